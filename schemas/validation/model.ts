// Models: a TypeBox schema with a name and rules; parses input, and publishes the schema as JSON Schema.
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { escapePointer, explain, isRecord, issue, type Issue } from './explain.ts';

/** Inputs of the rules beyond types; a rule whose input is missing is not applied. */
export interface RuleContext {
  /** Names of the tool registry. */
  knownTools?: ReadonlySet<string>;
  /** Object names of the plan; keys must be one of these or "Global". */
  objects?: readonly string[];
  /** Checks a path of `PlannerInput` on disk. Returns an error message, or null. */
  checkImagePath?: (path: string) => string | null;
  warn?: (message: string) => void;
}

interface ModelRules<T> {
  /** Runs before validation, on a copy: trims and fills in values. */
  normalise?: (draft: Record<string, unknown>, context: RuleContext) => void;
  /** Runs on a value that has passed type validation. */
  check?: (value: T, context: RuleContext) => Issue[];
  examples?: unknown[];
  /** `output`: the JSON Schema describes what the service writes, so that every key is required. */
  publish?: 'input' | 'output';
}

export class ValidationError extends Error {
  override readonly name = 'ValidationError';
  readonly model: string;
  readonly issues: readonly Issue[];

  constructor(model: string, issues: readonly Issue[]) {
    super(`Invalid ${model}: ${issues.map((found) => found.message).join('; ')}`);
    this.model = model;
    this.issues = issues;
  }
}

interface Definition {
  name: string;
  rules: ModelRules<never>;
  validator: Validator;
}
const definitions = new WeakMap<TSchema, Definition>();
/** Keyed by the schema's `properties` object, which the copy made by Type.Optional shares: finds models nested in others. */
const rulesByProperties = new WeakMap<object, ModelRules<never>>();

/** Registers a name, rules and examples for a schema, which itself stays plain JSON Schema. */
export function defineModel<S extends TSchema>(name: string, schema: S, rules: ModelRules<Static<S>> = {}): S {
  definitions.set(schema, { name, rules, validator: Compile(schema) });
  const { properties } = schema as Node;
  if (properties) rulesByProperties.set(properties, rules);
  return schema;
}

export function parse<S extends TSchema>(schema: S, input: unknown, context: RuleContext = {}): Static<S> {
  const { name, validator } = getDefinition(schema);
  const draft = prepare(schema, clone(input), context);
  if (!validator.Check(draft)) throw new ValidationError(name, explainFailure(schema, validator, draft));
  const issues = checkRules(schema, draft, context);
  if (issues.length > 0) throw new ValidationError(name, issues);
  return draft as Static<S>;
}

export function parseJson<S extends TSchema>(schema: S, text: string, context: RuleContext = {}): Static<S> {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    throw new ValidationError(getDefinition(schema).name, [issue('', 'valid JSON', text)]);
  }
  return parse(schema, input, context);
}

/** A Draft 2020-12 document for any validator. */
export function buildJsonSchema(schema: TSchema): Record<string, unknown> {
  const { name, rules } = getDefinition(schema);
  const body = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  if (rules.publish !== 'output') relaxDefaults(body);
  const examples = rules.examples ? { examples: structuredClone(rules.examples) } : {};
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name, ...body, ...examples };
}

function getDefinition(schema: TSchema): Definition {
  const definition = definitions.get(schema);
  if (!definition) throw new TypeError('Expected a schema created by defineModel');
  return definition;
}

function explainFailure(schema: TSchema, validator: Validator, value: unknown): Issue[] {
  const issues = explain(schema, value);
  if (issues.length > 0) return issues;
  return validator.Errors(value).map((error) => issue(error.instancePath, error.message, undefined, error.message));
}

/** Fields with a default are optional in input, so they are not published as required. */
function relaxDefaults(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(relaxDefaults);
  if (!isRecord(node)) return;
  const properties = node['properties'];
  if (isRecord(properties) && Array.isArray(node['required'])) {
    node['required'] = node['required'].filter(
      (key: string) => !isRecord(properties[key]) || !('default' in properties[key]),
    );
  }
  Object.values(node).forEach(relaxDefaults);
}

interface Node {
  format?: string;
  properties?: Record<string, object>;
  patternProperties?: Record<string, object>;
  items?: unknown;
  anyOf?: object[];
}

/** Fills in defaults, converts date-times to ISO 8601 in UTC, and normalises nested models. */
function prepare(schema: object, value: unknown, context: RuleContext): unknown {
  const node = schema as Node;
  if (node.anyOf) return node.anyOf.reduce<unknown>((current, branch) => prepare(branch, current, context), value);
  if (node.format === 'date-time' && typeof value === 'string') return toUtc(value);
  if (Array.isArray(value))
    return isRecord(node.items) ? value.map((item) => prepare(node.items as object, item, context)) : value;
  if (!isRecord(value)) return value;
  const filled = sortBySchema(node, { ...collectDefaults(node), ...value });
  const pattern = Object.values(node.patternProperties ?? {})[0];
  const draft = Object.fromEntries(
    Object.entries(filled).map(([key, item]) => {
      const child = findChild(node, key) ?? pattern;
      return [key, child ? prepare(child, item, context) : item];
    }),
  );
  findRules(node)?.normalise?.(draft, context);
  return draft;
}

/** Applies the rules of the model and of every nested model. */
function checkRules(schema: object, value: unknown, context: RuleContext, path = ''): Issue[] {
  const node = schema as Node;
  if (node.anyOf) return value === null ? [] : node.anyOf.flatMap((branch) => checkRules(branch, value, context, path));
  if (Array.isArray(value))
    return isRecord(node.items)
      ? value.flatMap((item, index) => checkRules(node.items as object, item, context, `${path}/${index}`))
      : [];
  if (!isRecord(value)) return [];
  const pattern = Object.values(node.patternProperties ?? {})[0];
  const inner = Object.entries(value).flatMap(([key, item]) => {
    const child = findChild(node, key) ?? pattern;
    return child ? checkRules(child, item, context, `${path}/${escapePointer(key)}`) : [];
  });
  const own = findRules(node)?.check?.(value as never, context) ?? [];
  return [...own.map((found) => prefixPath(path, found)), ...inner];
}

const prefixPath = (path: string, found: Issue): Issue =>
  path
    ? {
        ...found,
        path: `${path}${found.path}`,
        message: found.message.replace(` for ${found.path} `, ` for ${path}${found.path} `),
      }
    : found;

const findRules = (node: Node): ModelRules<never> | undefined =>
  node.properties ? rulesByProperties.get(node.properties) : undefined;

/** Own keys only: "constructor" must not match an inherited property. */
const findChild = (node: Node, key: string): object | undefined =>
  node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;

/** Makes serialized models independent of the order in which a value was built. */
function sortBySchema(node: Node, value: Record<string, unknown>): Record<string, unknown> {
  const known = Object.keys(node.properties ?? {}).filter((key) => Object.hasOwn(value, key));
  return { ...Object.fromEntries(known.map((key) => [key, value[key]])), ...value };
}

function collectDefaults(node: Node): Record<string, unknown> {
  const properties = Object.entries(node.properties ?? {});
  return Object.fromEntries(
    properties.flatMap(([key, child]) => ('default' in child ? [[key, clone(child.default)]] : [])),
  );
}

const toUtc = (text: string): string => (isDateTime(text) ? new Date(text).toISOString() : text);

/** RFC 3339 with an offset, on an existing day: Date.parse alone assumes local time and reads February 30 as March 2. */
function isDateTime(text: string): boolean {
  const [, year, month, day] =
    /^(\d{4})-(\d\d)-(\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
  if (year === undefined || Number.isNaN(Date.parse(text))) return false;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}

/** Deep copy of plain data. Dates become ISO strings, and undefined values are dropped: Value.Clone keeps both. */
function clone(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (Array.isArray(value)) return value.map(clone);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, clone(item)]),
  );
}
