// Explains a failed validation: one sentence per invalid field. TypeBox decides what is valid; only the wording and the choice of a union's branch are ours.
import { Check } from 'typebox/value';

export interface Issue {
  /** JSON Pointer to the failing field; empty for the document itself. */
  path: string;
  expected: string;
  received: string;
  message: string;
}

/** The part of JSON Schema that our models use. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema | boolean;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

export function explain(schema: object, value: unknown, path = ''): Issue[] {
  const node = schema as Schema;
  if (node.anyOf) return explainUnion(node, value, path);
  if (node.type === 'array' && Array.isArray(value)) return explainArray(node, value, path);
  if (node.type === 'object' && isRecord(value)) return explainObject(node, value, path);
  return Check(node, value) ? [] : [issue(path, describe(node), value)];
}

export function issue(path: string, expected: string, value: unknown, message?: string): Issue {
  const received = formatValue(value);
  return {
    path,
    expected,
    received,
    message: message ?? `Expected ${expected} for ${path || 'the document'} but received ${received}`,
  };
}

function explainUnion(node: Schema, value: unknown, path: string): Issue[] {
  const branches = node.anyOf ?? [];
  const results = branches.map((branch) => explain(branch, value, path));
  if (results.some((issues) => issues.length === 0)) return [];
  // If the value has the shape of one branch, the issues inside it are more helpful than "none of these".
  const deeper = results.filter((issues) => issues.every((found) => found.path !== path));
  const tagged = branches.findIndex((branch) => hasSameTag(branch, value));
  const best = deeper.length === 1 ? deeper[0] : results[tagged];
  return best ?? [issue(path, describe(node), value)];
}

/** Whether branch and value are objects with the same discriminator, as in { event: "tool" }. */
function hasSameTag(branch: Schema, value: unknown): boolean {
  const tags = Object.entries(branch.properties ?? {}).filter(([, property]) => property.const !== undefined);
  return isRecord(value) && tags.length > 0 && tags.every(([key, property]) => value[key] === property.const);
}

function explainArray(node: Schema, value: unknown[], path: string): Issue[] {
  if (value.length < (node.minItems ?? 0) || value.length > (node.maxItems ?? Infinity))
    return [issue(path, describe(node), value)];
  const items = node.items;
  return value.flatMap((item, index) => {
    const itemSchema = node.prefixItems?.[index] ?? (typeof items === 'object' ? items : {});
    return explain(itemSchema, item, `${path}/${index}`);
  });
}

function explainObject(node: Schema, value: Record<string, unknown>, path: string): Issue[] {
  const issues: Issue[] = [];
  for (const key of node.required ?? []) {
    if (value[key] === undefined)
      issues.push(issue(`${path}/${escapePointer(key)}`, describe(node.properties?.[key] ?? {}), undefined));
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const keyPath = `${path}/${escapePointer(key)}`;
    const schema = findSchema(node, key);
    if (schema) issues.push(...explain(schema, item, keyPath));
    else if (node.additionalProperties === false)
      issues.push(issue(keyPath, describeKeys(node), item, `Unexpected ${keyPath}: expected ${describeKeys(node)}`));
  }
  return issues;
}

function findSchema(node: Schema, key: string): Schema | undefined {
  // Own keys only: "constructor" must not match an inherited property.
  if (node.properties && Object.hasOwn(node.properties, key)) return node.properties[key];
  const matched = Object.entries(node.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern).test(key));
  return matched?.[1] ?? (typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined);
}

function describeKeys(node: Schema): string {
  if (node.properties) return `only the fields ${Object.keys(node.properties).join(', ')}`;
  return Object.keys(node.patternProperties ?? {})
    .map((pattern) => (pattern === '\\S' ? 'non-blank keys' : `keys that match ${pattern}`))
    .join(' or ');
}

function describe(node: Schema): string {
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.enum) return `one of ${node.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}`;
  if (node.anyOf) return node.anyOf.map(describe).join(' or ');
  switch (node.type) {
    case undefined:
      return 'a value';
    case 'null':
      return 'null';
    case 'array':
      return describeArray(node);
    case 'object':
      return 'an object';
    case 'string':
      return describeString(node);
    case 'boolean':
      return 'true or false';
    default:
      return `${node.type === 'integer' ? 'an integer' : 'a number'}${describeRange(node.minimum, node.maximum)}`;
  }
}

function describeArray(node: Schema): string {
  if (node.prefixItems) return `[${node.prefixItems.map(describe).join(', ')}]`;
  const of = typeof node.items === 'object' && node.items.type ? ` of ${node.items.type}s` : '';
  return `an array${of}${describeRange(node.minItems, node.maxItems, ' items')}`;
}

function describeString(node: Schema): string {
  if (node.format === 'date-time') return 'an ISO 8601 date-time';
  if (node.pattern === '\\S') return `a non-blank string${describeRange(undefined, node.maxLength, ' characters')}`;
  const pattern = node.pattern ? ` that matches ${node.pattern}` : '';
  return `a string${describeRange(node.minLength, node.maxLength, ' characters')}${pattern}`;
}

function describeRange(low: number | undefined, high: number | undefined, unit = ''): string {
  if (low !== undefined && high !== undefined)
    return low === high ? ` of ${low}${unit}` : ` from ${low} to ${high}${unit}`;
  if (low !== undefined) return ` of at least ${low}${unit}`;
  return high === undefined ? '' : ` of at most ${high}${unit}`;
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  const text = (JSON.stringify(value) as string | undefined) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 6901. */
export const escapePointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
