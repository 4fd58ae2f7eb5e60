// The one small set of functions that serves every model: parse, serialize, compare, hash, publish as JSON Schema.
import { createHash } from 'node:crypto';
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { explain, isInstant, isRecord, issue, pointer, type Issue } from './explain.ts';

/** What the rules beyond types need from outside; a rule whose input is missing is not applied. */
export interface RuleContext {
  /** Names of the tool registry. */
  knownTools?: ReadonlySet<string>;
  /** Object names of the plan; keys must be one of these or "Global". */
  objects?: readonly string[];
  /** The disk, as far as `PlannerInput` may look at it. Returns the complaint, or null. */
  checkImagePath?: (path: string) => string | null;
  warn?: (message: string) => void;
}

export interface ModelRules<T> {
  /** Runs before validation on a private copy: trims, fills. */
  normalise?: (draft: Record<string, unknown>, context: RuleContext) => void;
  /** Runs on a value of the right type. */
  check?: (value: T, context: RuleContext) => Issue[];
  examples?: unknown[];
  /** `output`: the JSON Schema describes what we write, so that every key is required. */
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
/** The same by the schema's properties, which Type.Optional's copy shares: so a model is known again inside another. */
const rulesByProperties = new WeakMap<object, ModelRules<never>>();

/** Names a schema, and gives it its rules and examples. The schema itself stays plain JSON Schema. */
export function defineModel<S extends TSchema>(name: string, schema: S, rules: ModelRules<Static<S>> = {}): S {
  definitions.set(schema, { name, rules, validator: Compile(schema) });
  const { properties } = schema as Node;
  if (properties) rulesByProperties.set(properties, rules);
  return schema;
}

export function parse<S extends TSchema>(schema: S, input: unknown, context: RuleContext = {}): Static<S> {
  const { name, validator } = definitionOf(schema);
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
    throw new ValidationError(definitionOf(schema).name, [issue('', 'valid JSON', text)]);
  }
  return parse(schema, input, context);
}

export function serialize<S extends TSchema>(schema: S, value: Static<S>, context: RuleContext = {}): string {
  return JSON.stringify(parse(schema, value, context));
}

export const equals = (left: unknown, right: unknown): boolean => canonicalJson(left) === canonicalJson(right);

/** The same value has the same hash, whatever the order of its keys. */
export const hash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

/** A bare Draft 2020-12 document, usable by any validator. */
export function jsonSchemaOf(schema: TSchema): Record<string, unknown> {
  const { name, rules } = definitionOf(schema);
  const body = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  if (rules.publish !== 'output') relaxDefaults(body);
  const examples = rules.examples ? { examples: structuredClone(rules.examples) } : {};
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name, ...body, ...examples };
}

export const examplesOf = (schema: TSchema): unknown[] => definitionOf(schema).rules.examples ?? [];

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : item,
  );
}

function definitionOf(schema: TSchema): Definition {
  const definition = definitions.get(schema);
  if (!definition) throw new TypeError('Expected a schema made by defineModel');
  return definition;
}

function explainFailure(schema: TSchema, validator: Validator, value: unknown): Issue[] {
  const issues = explain(schema, value);
  if (issues.length > 0) return issues;
  return validator.Errors(value).map((error) => issue(error.instancePath, error.message, undefined, error.message));
}

/** Fields with a default need not be sent, so they are not published as required. */
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

/** Fills in defaults, and turns dates into ISO 8601 in UTC wherever the schema says date-time. */
function prepare(schema: object, value: unknown, context: RuleContext): unknown {
  const node = schema as Node;
  if (node.anyOf) return node.anyOf.reduce<unknown>((current, branch) => prepare(branch, current, context), value);
  if (node.format === 'date-time' && typeof value === 'string') return utc(value);
  if (Array.isArray(value))
    return isRecord(node.items) ? value.map((item) => prepare(node.items as object, item, context)) : value;
  if (!isRecord(value)) return value;
  const filled = inSchemaOrder(node, { ...defaultsOf(node), ...value });
  const pattern = Object.values(node.patternProperties ?? {})[0];
  const draft = Object.fromEntries(
    Object.entries(filled).map(([key, item]) => {
      const child = childOf(node, key) ?? pattern;
      return [key, child ? prepare(child, item, context) : item];
    }),
  );
  rulesOf(node)?.normalise?.(draft, context);
  return draft;
}

/** The rules of the model, and of every model inside it. */
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
    const child = childOf(node, key) ?? pattern;
    return child ? checkRules(child, item, context, `${path}/${pointer(key)}`) : [];
  });
  const own = rulesOf(node)?.check?.(value as never, context) ?? [];
  return [...own.map((found) => moveTo(path, found)), ...inner];
}

const moveTo = (path: string, found: Issue): Issue =>
  path
    ? {
        ...found,
        path: `${path}${found.path}`,
        message: found.message.replace(` for ${found.path} `, ` for ${path}${found.path} `),
      }
    : found;

const rulesOf = (node: Node): ModelRules<never> | undefined =>
  node.properties ? rulesByProperties.get(node.properties) : undefined;

/** Own keys only: "constructor" is no property of ours. */
const childOf = (node: Node, key: string): object | undefined =>
  node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;

/** A serialized model reads like its schema, whoever built the value. */
function inSchemaOrder(node: Node, value: Record<string, unknown>): Record<string, unknown> {
  const known = Object.keys(node.properties ?? {}).filter((key) => Object.hasOwn(value, key));
  return { ...Object.fromEntries(known.map((key) => [key, value[key]])), ...value };
}

function defaultsOf(node: Node): Record<string, unknown> {
  const properties = Object.entries(node.properties ?? {});
  return Object.fromEntries(
    properties.flatMap(([key, child]) => ('default' in child ? [[key, clone(child.default)]] : [])),
  );
}

function utc(text: string): string {
  return isInstant(text) ? new Date(text).toISOString() : text;
}

/** A private deep copy of plain data; dates turn into strings, absent values stay absent. */
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
