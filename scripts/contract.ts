// Checks the running service against its OpenAPI document with a validator and Schemathesis.
// Writes `passed` and `failed` to the file named by the first argument.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '../src/config/config.ts';

const MIN_CASES = 1_000;
const MIN_ACCEPTED = 60;
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
const problems = [...(await checkDocument(service.address)), ...schemathesis.problems, ...service.errors()];
service.stop();
for (const problem of problems) console.log(`contract: ${problem}`);
const [, , summary] = process.argv;
if (summary)
  writeFileSync(
    summary,
    JSON.stringify({ passed: problems.length === 0 ? schemathesis.operations + 1 : 0, failed: problems.length }),
  );
process.exit(problems.length > 0 ? 1 : 0);

/** Starts the built service with its sidecar on a free port. */
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
      // Requests before readiness may log errors.
      const firstLine = logs.length;
      const errors = () =>
        logs
          .slice(firstLine)
          .filter((line) => Number(line['level']) >= 50)
          .map((line) => `error in the log: ${JSON.stringify(line).slice(0, 600)}`);
      return { address, errors, stop: () => child.kill('SIGTERM') };
    }
    if (child.exitCode !== null) break;
    await delay(100);
  }
  child.kill('SIGKILL');
  throw new Error('Expected the service to become ready');
}

/** Finishes an assessment under the id that test/openapi/hooks.py resumes. */
async function finishAssessment(address: string): Promise<void> {
  const form = new FormData();
  form.append('image', new Blob([readFileSync(join(root, 'docs', 'example.jpg'))]), 'example.jpg');
  const answer = await fetch(`${address}/assess`, {
    method: 'POST',
    body: form,
    headers: { 'x-assessment-id': '00000000-0000-4000-8000-000000000001' },
  });
  if (answer.status !== 200)
    throw new Error(`Expected 200 for the example but received ${answer.status}: ${await answer.text()}`);
}

async function checkDocument(address: string): Promise<string[]> {
  const file = join(reports, 'openapi.json');
  writeFileSync(file, await (await fetch(`${address}/openapi.json`)).text());
  const { status, stdout, stderr } = spawnSync(join(tools, 'openapi-spec-validator'), ['--schema', '3.1', file], {
    encoding: 'utf8',
  });
  return status === 0 ? [] : [`/openapi.json is not valid OpenAPI 3.1: ${stdout}${stderr}`];
}

function runSchemathesis(address: string): { operations: number; problems: string[] } {
  const file = join(reports, 'schemathesis.json');
  const { status } = spawnSync(
    join(tools, 'schemathesis'),
    ['run', `${address}/openapi.json`, '--no-color', '--report-json-path', file],
    {
      // The folder of its configuration and hooks.
      cwd: join(root, 'test', 'openapi'),
      stdio: 'inherit',
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  const {
    test_cases: cases,
    operations,
    failures,
    errors,
    valid_rates: rates,
  } = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const accepted = Object.values(rates['POST /assess'] ?? {}).reduce((sum, phase) => sum + phase.accepted, 0);
  console.log(
    `Schemathesis: ${cases.generated} cases, ${operations.tested} of ${operations.total} operations, ${accepted} valid assessments answered`,
  );
  const problems = [
    ...failures.map((failure) => `${failure.title}: ${failure.operations.join(', ')}`),
    ...errors.map((error) => JSON.stringify(error)),
    ...(status === 0 || failures.length + errors.length > 0
      ? []
      : [`Schemathesis exited with ${status ?? 'a signal'}`]),
    ...(cases.generated >= MIN_CASES ? [] : [`Expected at least ${MIN_CASES} cases but received ${cases.generated}`]),
    ...(operations.tested === operations.total && operations.total > 0
      ? []
      : [`Expected all ${operations.total} operations to be tested but ${operations.tested} were`]),
    ...(accepted >= MIN_ACCEPTED
      ? []
      : [`Expected at least ${MIN_ACCEPTED} valid assessments but ${accepted} were answered with 2xx`]),
  ];
  return { operations: operations.tested, problems };
}
