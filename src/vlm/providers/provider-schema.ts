// Reduces a TypeBox schema to what all providers accept: every key required, no extra keys, only common keywords.
import type { TSchema } from 'typebox';

/** Limits such as minItems and pattern are left out: replies are validated in any case. */
const COMMON_KEYWORDS = [
  'type',
  'enum',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
];

export function toProviderSchema(schema: TSchema): Record<string, unknown> {
  return reduce(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>);
}

type Node = Record<string, unknown>;

function reduce(node: Node): Node {
  const kept = Object.fromEntries(Object.entries(node).filter(([key]) => COMMON_KEYWORDS.includes(key)));
  const { properties, items, anyOf } = kept as { properties?: Record<string, Node>; items?: Node; anyOf?: Node[] };
  return {
    // Not every provider supports `const`.
    ...(typeof node['const'] === 'string' ? { type: 'string', enum: [node['const']] } : {}),
    // Some providers refuse an enum without a type.
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
