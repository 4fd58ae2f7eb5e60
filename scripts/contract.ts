// Holds the running service to its published interface: the OpenAPI document is valid, and Schemathesis finds nothing that it does not say.
// Prints what it did; `passed` and `failed` go to the file named by the first argument.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '../src/config/config.ts';

const LEAST_CASES = 1_000;
const LEAST_ACCEPTED = 60;
const root = projectRoot();
const tools = join(root, '.setup', 'checks-env', 'bin');
const reports = join(root, '.setup', 'reports', 'contract');

interface Report {
  test_cases: { generated: number; errored: number };
  operations: { total: number; tested: number };
  failures: { title: string; operations: string[] }[];
  errors: unknown[];
  valid_rates: Record<string, Record<string, { accepted: number }>>;
}

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const service = await startService();
await finishAssessment(service.address);
const schemathesis = runSchemathesis(service.address);
const complaints = [...(await checkDocument(service.address)), ...schemathesis.complaints, ...service.errors()];
service.stop();
for (const complaint of complaints) console.log(`contract: ${complaint}`);
const [, , summary] = process.argv;
if (summary)
  writeFileSync(
    summary,
    JSON.stringify({ passed: complaints.length === 0 ? schemathesis.operations + 1 : 0, failed: complaints.length }),
  );
process.exit(complaints.length > 0 ? 1 : 0);

/** The built service as users run it, sidecar included, on a free port. */
async function startService() {
  const child = spawn(process.execPath, ['dist/src/server.js'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      IQA_PORT: '0',
      SIDECAR_URL: '',
      NODE_V8_COVERAGE: '',
      IQA_CHECKPOINTS: 'sqlite',
      IQA_CHECKPOINTS_DIR: join(reports, 'checkpoints'),
    },
  });
  const logs: Record<string, unknown>[] = [];
  createInterface(child.stdout).on('line', (line) => void logs.push(JSON.parse(line) as Record<string, unknown>));
  const findAddress = () => logs.find((line) => 'address' in line)?.['address'] as string | undefined;
  for (let waited = 0; waited < 600; waited += 1) {
    const address = findAddress();
    if (address !== undefined && (await fetch(`${address}/ready`).catch(() => null))?.ok) {
      // Before, it was asked for what it did not have yet.
      const begun = logs.length;
      const errors = () =>
        logs
          .slice(begun)
          .filter((line) => Number(line['level']) >= 50)
          .map((line) => `an error in the log: ${JSON.stringify(line).slice(0, 600)}`);
      return { address, errors, stop: () => child.kill('SIGTERM') };
    }
    if (child.exitCode !== null) break;
    await delay(100);
  }
  child.kill('SIGKILL');
  throw new Error('The service did not get ready');
}

/** One that can be resumed, under the id that test/openapi/hooks.py asks for. */
async function finishAssessment(address: string): Promise<void> {
  const form = new FormData();
  form.append('image', new Blob([readFileSync(join(root, 'docs', 'example.jpg'))]), 'example.jpg');
  const answer = await fetch(`${address}/assess`, {
    method: 'POST',
    body: form,
    headers: { 'x-assessment-id': '00000000-0000-4000-8000-000000000001' },
  });
  if (answer.status !== 200) throw new Error(`The example was answered with ${answer.status}: ${await answer.text()}`);
}

async function checkDocument(address: string): Promise<string[]> {
  const file = join(reports, 'openapi.json');
  writeFileSync(file, await (await fetch(`${address}/openapi.json`)).text());
  const { status, stdout, stderr } = spawnSync(join(tools, 'openapi-spec-validator'), ['--schema', '3.1', file], {
    encoding: 'utf8',
  });
  return status === 0 ? [] : [`/openapi.json is not valid OpenAPI 3.1: ${stdout}${stderr}`];
}

function runSchemathesis(address: string): { operations: number; complaints: string[] } {
  const file = join(reports, 'schemathesis.json');
  const { status } = spawnSync(
    join(tools, 'schemathesis'),
    ['run', `${address}/openapi.json`, '--no-color', '--report-json-path', file],
    {
      // Where its configuration and hooks are.
      cwd: join(root, 'test', 'openapi'),
      stdio: 'inherit',
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  const {
    test_cases: cases,
    operations: tried,
    failures,
    errors,
    valid_rates: rates,
  } = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const accepted = Object.values(rates['POST /assess'] ?? {}).reduce((sum, phase) => sum + phase.accepted, 0);
  console.log(
    `Schemathesis: ${cases.generated} cases, ${tried.tested} of ${tried.total} operations, ${accepted} valid assessments answered`,
  );
  const complaints = [
    ...failures.map((failure) => `${failure.title}: ${failure.operations.join(', ')}`),
    ...errors.map((error) => JSON.stringify(error)),
    ...(status === 0 || failures.length + errors.length > 0 ? [] : [`Schemathesis ended with ${status ?? 'a signal'}`]),
    ...(cases.generated >= LEAST_CASES
      ? []
      : [`Expected at least ${LEAST_CASES} cases but there were ${cases.generated}`]),
    ...(tried.tested === tried.total && tried.total > 0
      ? []
      : [`Expected all ${tried.total} operations to be tried but ${tried.tested} were`]),
    ...(accepted >= LEAST_ACCEPTED
      ? []
      : [`Expected at least ${LEAST_ACCEPTED} valid assessments but ${accepted} were answered with 2xx`]),
  ];
  return { operations: tried.tested, complaints };
}
