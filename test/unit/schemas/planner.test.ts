// The planner's models: plan, flags, and input with paths checked on the real disk.
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import sharp from 'sharp';
import { hash } from '../../../schemas/validation/hash.ts';
import { buildJsonSchema, parse, parseJson } from '../../../schemas/validation/model.ts';
import { examplesOf, serialize } from '../../support/schemas/models.ts';
import { PlanControlFlags, PlannerInput, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { DISTORTION_CATEGORIES } from '../../../schemas/vocabulary.ts';
import { createImagePathCheck } from '../../../src/images/path-check.ts';
import { ACCEPTED_FORMATS } from '../../../src/images/formats/sniff.ts';
import { makeBmp } from '../../support/images/bmp-files.ts';
import { checkField, checkRequired, onlyIssue, refusal, refusedPaths, without } from '../../support/schemas/refusal.ts';

const FLAGS = { distortion_detection: false, distortion_analysis: true, tool_selection: true, tool_execution: true };
const PLAN = {
  query_type: 'IQA',
  query_scope: ['vehicle', 'sky'],
  distortion_source: 'Explicit',
  distortions: { vehicle: ['Blurs'], Global: ['Noise', 'Contrast'] },
  reference_mode: 'Full-Reference',
  required_tool: 'SSIM',
  plan: FLAGS,
};
const INPUT = {
  query: 'Is the vehicle blurry?',
  image_path: 'street.png',
  reference_path: 'pristine.png',
  prior_context: { turn: 1 },
};

// Scenario: state-models / PlannerOutput model structure
t.test('PlannerOutput: every field, every literal', async (t) => {
  const cases = { schema: PlannerOutput, base: PLAN };
  checkField(t, 'query_type', {
    ...cases,
    accepts: ['IQA', 'Other'],
    refuses: ['INVALID', 'iqa', '', null, 1, ['IQA']],
  });
  checkField(t, 'query_scope', {
    ...cases,
    accepts: ['Global', ['vehicle'], ['a', 'b', 'c'], ['Global']],
    refuses: ['vehicle', 'global', [], [''], [' '], [1], null, {}],
  });
  checkField(t, 'distortion_source', {
    ...cases,
    accepts: ['Explicit', 'Inferred'],
    refuses: ['explicit', 'Both', null, true],
  });
  checkField(t, 'distortions', {
    ...cases,
    accepts: [null, {}, { vehicle: [] }, { Global: [...DISTORTION_CATEGORIES] }, { 街: ['Blurs'] }],
    refuses: [
      [],
      'Blurs',
      ['Blurs'],
      { vehicle: 'Blurs' },
      { vehicle: ['Blur'] },
      { vehicle: [null] },
      { ' ': ['Blurs'] },
      { '': [] },
    ],
  });
  checkField(t, 'reference_mode', {
    ...cases,
    accepts: ['Full-Reference', 'No-Reference'],
    refuses: ['FR', 'full-reference', 'Reduced-Reference', null],
  });
  checkField(t, 'required_tool', {
    ...cases,
    accepts: [null, 'SSIM', 'an unknown tool'],
    refuses: ['', ' ', 1, ['SSIM']],
  });
  checkField(t, 'plan', {
    ...cases,
    accepts: [FLAGS],
    refuses: [null, {}, [], 'all', { ...FLAGS, tool_execution: 1 }, { ...FLAGS, extra: true }],
  });
});

// Scenario: state-models / PlannerOutput model structure
t.test(
  'PlannerOutput: optional fields left out become null, the others are required, unknown ones are refused',
  async (t) => {
    checkRequired(t, PlannerOutput, PLAN, ['query_type', 'query_scope', 'distortion_source', 'reference_mode', 'plan']);
    const sparse = parse(PlannerOutput, without(without(PLAN, 'distortions'), 'required_tool'));
    t.match(sparse, { distortions: null, required_tool: null });
    t.strictSame(refusedPaths(PlannerOutput, { ...PLAN, confidence: 0.9 }), ['/confidence']);
  },
);

// Scenario: state-models / PlanControlFlags nested model
t.test('PlanControlFlags: four required booleans and nothing else', async (t) => {
  t.strictSame(Object.keys(PlanControlFlags.properties), [
    'distortion_detection',
    'distortion_analysis',
    'tool_selection',
    'tool_execution',
  ]);
  for (const flag of Object.keys(FLAGS)) {
    checkField(t, flag, {
      schema: PlanControlFlags,
      base: FLAGS,
      accepts: [true, false],
      refuses: ['true', 1, 0, null, []],
    });
  }
  checkRequired(t, PlanControlFlags, FLAGS, Object.keys(FLAGS));
  t.strictSame(refusedPaths(PlanControlFlags, { ...FLAGS, summarise: true }), ['/summarise']);
  t.strictSame(
    refusedPaths(PlannerOutput, { ...PLAN, plan: { ...without(FLAGS, 'tool_selection'), tool_execution: 'yes' } }),
    ['/plan/tool_selection', '/plan/tool_execution'],
  );
});

// Scenario: state-models / PlannerOutput validation
t.test('PlannerOutput from JSON: typed if valid, a specific error if not', async (t) => {
  t.strictSame(parseJson(PlannerOutput, JSON.stringify(PLAN)), PLAN);
  const found = onlyIssue(PlannerOutput, { ...PLAN, query_type: 'INVALID' });
  t.strictSame(found, {
    path: '/query_type',
    expected: 'one of "IQA", "Other"',
    received: '"INVALID"',
    message: 'Expected one of "IQA", "Other" for /query_type but received "INVALID"',
  });
  t.throws(() => parseJson(PlannerOutput, JSON.stringify({ ...PLAN, query_type: 'INVALID' })), {
    name: 'ValidationError',
    model: 'PlannerOutput',
    message: 'Invalid PlannerOutput: Expected one of "IQA", "Other" for /query_type but received "INVALID"',
  });
});

// Scenario: state-models / PlannerOutput validation
t.test('PlannerOutput: an answer with many errors is explained in full, beyond eight issues', async (t) => {
  const { issues } = refusal(PlannerOutput, {
    query_type: 'INVALID',
    query_scope: [1, ' '],
    distortion_source: null,
    distortions: { vehicle: ['Fog', 'Rain'], sky: 'Blurs' },
    required_tool: 7,
    plan: { distortion_detection: 'yes', distortion_analysis: true, extra: 1 },
    thoughts: 'hm',
  });
  t.strictSame(issues.map(({ path }) => path).toSorted(), [
    '/distortion_source',
    '/distortions/sky',
    '/distortions/vehicle/0',
    '/distortions/vehicle/1',
    '/plan/distortion_detection',
    '/plan/extra',
    '/plan/tool_execution',
    '/plan/tool_selection',
    '/query_scope/0',
    '/query_scope/1',
    '/query_type',
    '/reference_mode',
    '/required_tool',
    '/thoughts',
  ]);
  t.ok(issues.every(({ expected, received, message }) => expected !== '' && received !== '' && message !== ''));
});

t.test('PlannerOutput: the named tool must be in the registry, if the registry is known', async (t) => {
  const knownTools = new Set(['SSIM', 'NIQE']);
  t.equal(parse(PlannerOutput, PLAN, { knownTools }).required_tool, 'SSIM');
  t.equal(parse(PlannerOutput, { ...PLAN, required_tool: null }, { knownTools }).required_tool, null);
  t.equal(
    onlyIssue(PlannerOutput, { ...PLAN, required_tool: 'ssim' }, { knownTools }).message,
    'Expected a tool of the registry for /required_tool but received "ssim"',
  );
});

// Scenario: state-models / PlannerOutput serialization
t.test('PlannerOutput: serializing and parsing keep it unchanged', async (t) => {
  const plan = parse(PlannerOutput, PLAN);
  const text = serialize(PlannerOutput, plan);
  t.type(text, 'string');
  t.strictSame(JSON.parse(text), PLAN, 'values and types are kept');
  t.strictSame(parseJson(PlannerOutput, text), plan);
  t.ok(isDeepStrictEqual(parseJson(PlannerOutput, text), plan));
});

// Scenario: state-models / Model comparison and equality
t.test('PlannerOutput: equal by value, with equal hashes', async (t) => {
  const plan = parse(PlannerOutput, PLAN);
  const same = parse(PlannerOutput, Object.fromEntries(Object.entries(structuredClone(PLAN)).toReversed()));
  t.not(plan, same);
  t.ok(isDeepStrictEqual(plan, same));
  t.equal(hash(plan), hash(same));
  t.ok(
    isDeepStrictEqual(
      plan,
      parse(PlannerOutput, { ...PLAN, plan: Object.fromEntries(Object.entries(FLAGS).toReversed()) }),
    ),
    'nested keys too',
  );
  for (const other of [
    { ...PLAN, query_type: 'Other' },
    { ...PLAN, query_scope: ['sky', 'vehicle'] },
    { ...PLAN, plan: { ...FLAGS, tool_execution: false } },
    { ...PLAN, distortions: null },
  ]) {
    t.notOk(isDeepStrictEqual(plan, parse(PlannerOutput, other)));
    t.not(hash(plan), hash(parse(PlannerOutput, other)));
  }
});

// Scenario: state-models / Model examples for documentation
t.test('PlannerOutput: the examples are valid, complete, and in the schema', async (t) => {
  const examples = examplesOf(PlannerOutput);
  t.match(examples[0], { query_type: 'IQA', query_scope: ['vehicle'] });
  t.strictSame(buildJsonSchema(PlannerOutput)['examples'], examples);
  for (const example of examples) t.strictSame(parse(PlannerOutput, example), example);
});

// Scenario: state-models / PlannerInput model structure
t.test('PlannerInput: every field', async (t) => {
  const cases = { schema: PlannerInput, base: INPUT };
  checkField(t, 'query', { ...cases, accepts: ['?', ' padded ', '街'], refuses: ['', ' ', null, 1, []] });
  checkField(t, 'image_path', { ...cases, accepts: ['a.png', '/tmp/a.png'], refuses: ['', null, 1, {}] });
  checkField(t, 'reference_path', { ...cases, accepts: [null, 'a.png'], refuses: ['', 1, []] });
  checkField(t, 'prior_context', {
    ...cases,
    accepts: [null, {}, { any: ['thing', { deep: null }] }],
    refuses: [[], 'text', 1],
  });
  checkRequired(t, PlannerInput, INPUT, ['query', 'image_path']);
  t.strictSame(parse(PlannerInput, { query: 'q', image_path: 'p' }), {
    reference_path: null,
    prior_context: null,
    query: 'q',
    image_path: 'p',
  });
  t.strictSame(refusedPaths(PlannerInput, { ...INPUT, image: 'x' }), ['/image']);
});

// Scenario: state-models / Query validation
t.test('PlannerInput: a blank query is refused', async (t) => {
  for (const query of ['', ' ', '\n', '\t \r\n', '\u00a0\u2003']) {
    t.equal(
      onlyIssue(PlannerInput, { ...INPUT, query }).message,
      `Expected a non-blank string for /query but received ${JSON.stringify(query)}`,
    );
  }
});

// Scenario: state-models / File path validation
// Scenario: state-models / PlannerInput model structure
t.test('PlannerInput: a missing file, and one that is not an image', async (t) => {
  const check = await openFolder(t);
  t.equal(check({ image_path: 'street.png' }), null);
  t.equal(check({ image_path: 'missing.png' }), '/image_path Image file not found: missing.png');
  t.equal(check({ reference_path: 'missing.png' }), '/reference_path Image file not found: missing.png');
  t.match(check({ reference_path: 'notes.txt' }), '/reference_path Invalid image format');
  t.equal(check({ reference_path: 'missing.txt' }), '/reference_path Invalid image format: missing.txt');
  t.match(check({ image_path: 'text.png' }), '/image_path Invalid image format', 'the bytes are text');
  t.match(check({ image_path: 'empty.png' }), '/image_path Invalid image format', 'no bytes');
  t.match(check({ image_path: 'vector.png' }), '/image_path Invalid image format', 'SVG under another name');
  t.equal(check({ image_path: 'folder.png' }), '/image_path Image file not found: folder.png', 'a folder');
});

// Scenario: state-models / File path validation
t.test('PlannerInput: both paths are checked, each with its own issue', async (t) => {
  const check = await openFolder(t);
  t.equal(
    check({ image_path: 'missing.png', reference_path: 'gone.jpg' }),
    '/image_path Image file not found: missing.png | /reference_path Image file not found: gone.jpg',
  );
  t.equal(check({ reference_path: 'pristine.jpeg' }), null);
  t.equal(check({ reference_path: null }), null);
});

t.test('PlannerInput: every accepted format, in real files', async (t) => {
  const files = await Promise.all(
    ACCEPTED_FORMATS.map(async (format) => [`image.${format}`, await createFile(format)] as const),
  );
  const check = createImagePathCheck(t.testdir(Object.fromEntries(files)));
  for (const [name] of files) t.equal(check(name), null, name);
});

// Scenario: planner-design / Image path validation against directory traversal
t.test('PlannerInput: no path leads out of the folder', async (t) => {
  const check = await openFolder(t);
  const refused = [
    '../outside/secret.png',
    'sub/../../outside/secret.png',
    'sub/../street.png',
    '..\\outside\\secret.png',
    '..',
    'link.png',
    'linked/secret.png',
    'street.png\0.png',
    '\0',
  ];
  for (const path of refused)
    t.match(check({ image_path: path }), '/image_path Path traversal is not allowed', JSON.stringify(path));
  const { outside, sibling, inside } = getFolders(t);
  t.match(check({ image_path: join(outside, 'secret.png') }), 'Path traversal is not allowed', 'absolute');
  t.match(
    check({ image_path: join(sibling, 'secret.png') }),
    'Path traversal is not allowed',
    'a folder whose name begins alike',
  );
  t.equal(check({ image_path: join(inside, 'street.png') }), null, 'absolute, but inside');
  t.equal(check({ image_path: 'sub/deeper.png' }), null);
  t.equal(check({ image_path: 'here.png' }), null, 'a link that stays inside');
  t.equal(check({ image_path: 'dots..png' }), null, 'dots in a name');
});

t.test('PlannerInput: spooled files have no extension, so their bytes decide', async (t) => {
  const check = await openFolder(t);
  t.equal(check({ image_path: 'image' }), null);
  t.match(check({ image_path: 'notes.txt' }), 'Invalid image format', 'text by its bytes');
  t.match(check({ image_path: 'text.png' }), 'Invalid image format');
  t.equal(check({ image_path: 'absent' }), '/image_path Image file not found: absent');
  t.match(check({ image_path: '../outside/secret.png' }), 'Path traversal is not allowed');
});

const getFolders = (t: Test) => ({
  inside: join(t.testdirName, 'root'),
  outside: join(t.testdirName, 'outside'),
  sibling: join(t.testdirName, 'root-sibling'),
});

/** A folder of real files; returns what PlannerInput says about paths in it, or null. */
async function openFolder(t: Test) {
  const png = await createFile('png');
  t.testdir({
    root: {
      'street.png': png,
      'pristine.jpeg': await createFile('jpeg'),
      'dots..png': png,
      image: png,
      'empty.png': '',
      'text.png': 'not an image',
      'notes.txt': 'notes',
      'vector.png': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'folder.png': {},
      sub: { 'deeper.png': png },
      'link.png': t.fixture('symlink', '../outside/secret.png'),
      'here.png': t.fixture('symlink', 'street.png'),
      linked: t.fixture('symlink', '../outside'),
    },
    outside: { 'secret.png': png },
    'root-sibling': { 'secret.png': png },
  });
  const checkImagePath = createImagePathCheck(getFolders(t).inside);
  return (paths: { image_path?: string; reference_path?: string | null }): string | null => {
    try {
      parse(PlannerInput, { query: 'Sharp?', image_path: 'street.png', ...paths }, { checkImagePath });
      return null;
    } catch {
      return refusal(PlannerInput, { query: 'Sharp?', image_path: 'street.png', ...paths }, { checkImagePath })
        .issues.map(({ path, message }) => `${path} ${message}`)
        .join(' | ');
    }
  };
}

const createFile = async (format: (typeof ACCEPTED_FORMATS)[number]): Promise<Buffer> =>
  format === 'bmp'
    ? makeBmp({ width: 16, height: 16, pixels: Buffer.alloc(16 * 16 * 3, 128) })
    : sharp({ create: { width: 16, height: 16, channels: 3, background: 'teal' } })
        .toFormat(format)
        .toBuffer();
