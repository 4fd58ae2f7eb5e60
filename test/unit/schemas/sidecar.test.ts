// The wire contract, with the fixtures that the Python tests share.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from '../../../schemas/validation/model.ts';
import {
  CONTRACT_VERSION,
  MeasureEvent,
  MeasureHeader,
  SidecarFailure,
  SidecarHealth,
  SidecarTools,
} from '../../../schemas/sidecar.ts';
import { checkRequired, isAccepted, refusedPaths, type Fields } from '../../support/schemas/refusal.ts';

interface HeaderCase {
  why: string;
  header: Fields;
}

const read = (name: string): string =>
  readFileSync(new URL(`../../../sidecar/contract/${name}`, import.meta.url), 'utf8');
const readJson = (name: string): unknown => JSON.parse(read(name));
const readLines = (name: string): Fields[] =>
  read(name)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Fields);

const validHeaders = readJson('headers-valid.json') as HeaderCase[];
const invalidHeaders = readJson('headers-invalid.json') as HeaderCase[];

/** Refused by the sidecar alone: these compare one part of the header with another, or with the tools that it has. */
const REFUSED_ONLY_BY_SIDECAR = [
  'measurements of a region that is not defined',
  'a tool on a region that is not defined',
  'region names are case-sensitive',
  'a tool that does not exist',
];

t.test('valid headers parse, unchanged', async (t) => {
  t.ok(validHeaders.length > 0);
  for (const { why, header } of validHeaders) t.strictSame(parse(MeasureHeader, header), header, why);
});

t.test('invalid headers are refused', async (t) => {
  const expressible = invalidHeaders.filter(({ why }) => !REFUSED_ONLY_BY_SIDECAR.includes(why));
  t.ok(expressible.length > 0);
  for (const { why, header } of expressible) t.equal(isAccepted(MeasureHeader, header), false, why);
});

t.test('the list of headers that only the sidecar refuses is exact', async (t) => {
  for (const why of REFUSED_ONLY_BY_SIDECAR) {
    const found = invalidHeaders.find((invalid) => invalid.why === why);
    t.ok(found, `${why}: in the fixture`);
    if (found) t.equal(isAccepted(MeasureHeader, found.header), true, `${why}: not seen by the schema`);
  }
});

t.test('every field of a header is required', async (t) => {
  const header = validHeaders[0]!.header;
  checkRequired(t, MeasureHeader, header, Object.keys(header));
});

t.test('each line of a reply is an event', async (t) => {
  const lines = [...readLines('answer.ndjson'), ...readLines('answer-failed.ndjson')];
  for (const line of lines) t.strictSame(parse(MeasureEvent, line), line, JSON.stringify(line).slice(0, 80));
  t.strictSame(
    new Set(lines.map((line) => line['event'])),
    new Set(['image', 'measurements', 'tool', 'end', 'error']),
    'a line of each kind',
  );
});

t.test('an event without one of its fields, or of another kind or contract, is refused', async (t) => {
  for (const line of readLines('answer.ndjson')) {
    for (const key of Object.keys(line))
      t.equal(
        isAccepted(MeasureEvent, Object.fromEntries(Object.entries(line).filter(([other]) => other !== key))),
        false,
        `${String(line['event'])} without ${key}`,
      );
  }
  const image = readLines('answer.ndjson')[0]!;
  t.equal(isAccepted(MeasureEvent, { ...image, contract: CONTRACT_VERSION + 1 }), false);
  t.equal(isAccepted(MeasureEvent, { ...image, event: 'other' }), false);
  t.equal(isAccepted(MeasureEvent, []), false);
});

t.test('an invalid event is explained by its invalid field', async (t) => {
  const tool = readLines('answer.ndjson').find((line) => line['event'] === 'tool')!;
  t.strictSame(refusedPaths(MeasureEvent, { ...tool, value: 'high' }), ['/value']);
  t.strictSame(refusedPaths(MeasureEvent, { ...tool, value: NaN }), ['/value']);
});

t.test('each error of the sidecar has a code and a message', async (t) => {
  const errors = readJson('errors.json') as { status: number; body: unknown }[];
  t.ok(errors.length > 0);
  for (const { body } of errors) t.strictSame(parse(SidecarFailure, body), body);
  for (const body of [{}, { error: 'text' }, { error: { code: 'BUSY' } }, null])
    t.equal(isAccepted(SidecarFailure, body), false, JSON.stringify(body));
});

t.test('the list of tools', async (t) => {
  const tools = readJson('tools.json');
  t.strictSame(parse(SidecarTools, tools), tools);
});

t.test('the health response', async (t) => {
  const health = readJson('health.json') as Fields;
  t.strictSame(parse(SidecarHealth, health), health);
  checkRequired(t, SidecarHealth, health, ['status', 'contract', 'workers', 'queue']);
});
