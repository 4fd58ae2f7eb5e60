// The published JSON Schemas with a third-party validator (Ajv).
import fc from 'fast-check';
import t from 'tap';
import type { TSchema } from 'typebox';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { Assessment } from '../../../schemas/responses/assessment.ts';
import { Comparison } from '../../../schemas/responses/comparison.ts';
import { ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import { buildJsonSchema, parse } from '../../../schemas/validation/model.ts';
import { examplesOf, serialize } from '../../support/schemas/models.ts';
import { PUBLISHED_MODELS } from '../../../schemas/published.ts';
import { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import { makeAssessment } from '../../support/schemas/assessment.ts';
import { GENERATORS } from '../../support/schemas/generators.ts';
import { mutate } from '../../support/schemas/mutations.ts';
import { isAccepted, shown, without } from '../../support/schemas/refusal.ts';

const models: [string, TSchema][] = Object.entries(PUBLISHED_MODELS);

function thirdPartyValidator(schema: TSchema): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  ajvFormats.default(ajv);
  return ajv.compile(buildJsonSchema(schema));
}

// Scenario: state-models / JSON schema generation
// Scenario: planner-design / State Model Structure
t.test('each document is JSON Schema Draft 2020-12, titled with the name it is published under', async (t) => {
  const ajv = new Ajv2020();
  for (const [name, schema] of models) {
    const document = buildJsonSchema(schema);
    t.match(document, { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name, type: 'object' });
    t.ok(ajv.validateSchema(document), `${name}: ${ajv.errorsText()}`);
    t.doesNotThrow(() => thirdPartyValidator(schema), `${name} compiles`);
    t.strictSame(JSON.parse(JSON.stringify(document)), document, `${name} is plain JSON`);
  }
});

// Scenario: state-models / Model examples for documentation
// Scenario: state-models / JSON schema generation
t.test('the examples of each document are valid, for us and for a third-party validator', async (t) => {
  for (const [name, schema] of models) {
    const validate = thirdPartyValidator(schema);
    for (const example of examplesOf(schema)) {
      t.ok(validate(example), name);
      t.ok(isAccepted(schema, example), name);
    }
    t.ok(schema === Assessment || schema === Comparison || examplesOf(schema).length > 0, `${name} has one`);
  }
});

// Scenario: state-models / JSON schema generation
t.test('a third-party validator agrees with ours: listed cases', async (t) => {
  const plan = examplesOf(PlannerOutput)[0] as Record<string, unknown>;
  const log = examplesOf(ToolExecutionLog)[0] as Record<string, unknown>;
  const cases: [schema: TSchema, input: unknown, valid: boolean][] = [
    [PlannerOutput, plan, true],
    [PlannerOutput, without(plan, 'distortions'), true],
    [PlannerOutput, { ...plan, query_scope: 'Global' }, true],
    [PlannerOutput, { ...plan, query_scope: 'vehicle' }, false],
    [PlannerOutput, { ...plan, query_scope: [] }, false],
    [PlannerOutput, { ...plan, query_type: 'INVALID' }, false],
    [PlannerOutput, { ...plan, distortions: { vehicle: ['Fog'] } }, false],
    [PlannerOutput, { ...plan, distortions: { ' ': [] } }, false],
    [PlannerOutput, without(plan, 'plan'), false],
    [PlannerOutput, { ...plan, extra: 1 }, false],
    [SummarizerOutput, { final_answer: 'B', quality_reasoning: 'x' }, true],
    [SummarizerOutput, { final_answer: ' ', quality_reasoning: 'x' }, false],
    [SummarizerOutput, { final_answer: 'B', quality_reasoning: '' }, false],
    [ToolExecutionLog, { ...log, normalized_score: 1 }, true],
    [ToolExecutionLog, { ...log, normalized_score: 0.99 }, false],
    [ToolExecutionLog, { ...log, normalized_score: null }, true],
    [ToolExecutionLog, { ...log, execution_time: -1 }, false],
  ];
  for (const [schema, input, valid] of cases) {
    t.equal(thirdPartyValidator(schema)(input), valid, `third party: ${JSON.stringify(input)}`);
    t.equal(isAccepted(schema, input), valid, `we: ${JSON.stringify(input)}`);
  }
});

t.test('a third-party validator agrees with ours: date-times', async (t) => {
  const log = examplesOf(ToolExecutionLog)[0] as Record<string, unknown>;
  const validate = thirdPartyValidator(ToolExecutionLog);
  const instants = [
    '2026-11-17T08:00:00Z',
    '2026-11-17T08:00:00.123456Z',
    '2026-11-17T10:00:00+02:00',
    '2026-11-17t08:00:00z',
    '2024-02-29T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-11-17',
    '2026-11-17T08:00:00',
    '2026-11-17T08:00Z',
    '2026-11-17T24:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-17 08:00 PM',
    'now',
    '',
  ];
  for (const timestamp of instants)
    t.equal(isAccepted(ToolExecutionLog, { ...log, timestamp }), validate({ ...log, timestamp }), `"${timestamp}"`);
});

// Scenario: state-models / JSON schema generation
t.test('a third-party validator agrees with ours: valid values mutated in every place', async (t) => {
  for (const { name, schema, values: arbitrary } of GENERATORS) {
    const validate = thirdPartyValidator(schema);
    const values = [...examplesOf(schema), ...fc.sample(arbitrary, { seed: 5, numRuns: 12 })].flatMap((value) => [
      value,
      ...mutate(value),
    ]);
    const disagreeing = values.filter((value) => validate(value) !== isAccepted(schema, value));
    t.strictSame(disagreeing.slice(0, 3).map(shown), [], `${name}: ${values.length} values`);
  }
});

// Scenario: executor-state-models / Serialize ExecutorOutput to JSON
t.test('serialized values are valid for a third-party validator', async (t) => {
  for (const { name, schema, values: arbitrary } of GENERATORS) {
    const validate = thirdPartyValidator(schema);
    t.ok(
      fc.sample(arbitrary, { seed: 9, numRuns: 100 }).every((value) => validate(JSON.parse(serialize(schema, value)))),
      name,
    );
  }
});

t.test('every key of the response is required, at every depth', async (t) => {
  const validate = thirdPartyValidator(Assessment);
  const assessment = makeAssessment();
  t.ok(validate(JSON.parse(serialize(Assessment, assessment))));
  for (const key of Object.keys(assessment)) t.notOk(validate(without({ ...assessment }, key)), key);
  t.notOk(validate({ ...assessment, plan: without(assessment.plan!, 'distortions') }), 'a nested key with a default');
  t.ok(isAccepted(Assessment, parse(Assessment, assessment)));
});

// Scenario: state-models / PlannerOutput model structure
// Scenario: state-models / JSON schema generation
t.test('everything published has a description: models, properties, items that are objects', async (t) => {
  for (const [name, schema] of models) t.strictSame(findUndescribed(buildJsonSchema(schema)), [], name);
});

interface Published {
  type?: string;
  description?: string;
  properties?: Record<string, Published>;
  patternProperties?: Record<string, Published>;
  items?: Published | boolean;
  prefixItems?: Published[];
  anyOf?: Published[];
}

function findUndescribed(node: Published, path = '#'): string[] {
  const children: [string, Published, mustDescribe: boolean][] = [
    ...Object.entries(node.properties ?? {}).map(([key, child]): [string, Published, boolean] => [
      `${path}/${key}`,
      child,
      true,
    ]),
    ...Object.entries(node.patternProperties ?? {}).map(([key, child]): [string, Published, boolean] => [
      `${path}/{${key}}`,
      child,
      false,
    ]),
    ...(typeof node.items === 'object'
      ? [[`${path}[]`, node.items, node.items.type === 'object'] as [string, Published, boolean]]
      : []),
    ...(node.prefixItems ?? []).map((child, index): [string, Published, boolean] => [`${path}[${index}]`, child, true]),
    ...(node.anyOf ?? []).map((child): [string, Published, boolean] => [path, child, false]),
  ];
  const own = path === '#' && !isDescribed(node) ? [path] : [];
  return [
    ...own,
    ...children.flatMap(([at, child, mustDescribe]) => [
      ...(mustDescribe && !isDescribed(child) ? [at] : []),
      ...findUndescribed(child, at),
    ]),
  ];
}

const isDescribed = ({ description }: Published): boolean => description !== undefined && /\S/.test(description);
