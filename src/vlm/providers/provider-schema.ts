// A TypeBox schema as all providers take it: every key required, nothing extra allowed, and only keywords that none of them refuses.
import type { TSchema } from 'typebox';

/** Limits such as minItems and pattern stay on our side, where they are checked anyway. */
const KEPT = ['type', 'enum', 'description', 'properties', 'required', 'additionalProperties', 'items', 'anyOf'];

export function toProviderSchema(schema: TSchema): Record<string, unknown> {
  return reduce(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>);
}

type Node = Record<string, unknown>;

function reduce(node: Node): Node {
  const kept = Object.fromEntries(Object.entries(node).filter(([key]) => KEPT.includes(key)));
  const { properties, items, anyOf } = kept as { properties?: Record<string, Node>; items?: Node; anyOf?: Node[] };
  return {
    // A constant is a list of one: not every provider knows the keyword.
    ...(typeof node['const'] === 'string' ? { type: 'string', enum: [node['const']] } : {}),
    // An enumeration without a type is refused by some.
    ...(Array.isArray(kept['enum']) && kept['type'] === undefined ? { type: 'string' } : {}),
    ...kept,
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, reduce(child)])),
          required: Object.keys(properties),
          additionalProperties: false,
        }
      : {}),
    ...(items ? { items: reduce(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(reduce) } : {}),
  };
}
