// The scripts for real API keys: skipped without a key; with one they run against the provider double.
import { spawn } from 'node:child_process';
import t from 'tap';
import { projectRoot } from '../../../src/config/config.ts';
import { testSidecar } from '../../support/app.ts';
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../../support/providers/model-answers.ts';
import { startProviderDouble } from '../../support/providers/provider-double.ts';

const NO_KEYS = {
  OPENAI_API_KEY: '',
  ANTHROPIC_API_KEY: '',
  GOOGLE_API_KEY: '',
  IQA_LOCAL_VLM_URL: '',
  IQA_BACKEND: '',
};

function run(
  script: string,
  args: string[],
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--import=ts-blank-space/register', script, ...args], {
    cwd: projectRoot(),
    env: { ...process.env, ...NO_KEYS, NODE_OPTIONS: '', NODE_V8_COVERAGE: '', ...environment },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      resolve({ code, output });
    });
  });
}

t.test('without a key the scripts are skipped and say so', async (t) => {
  t.match(await run('scripts/live-models.ts', [], {}), { code: 0, output: /^SKIPPED: no provider key is set/ });
  t.match(await run('scripts/compare-reasoning.ts', ['docs/example.jpg'], {}), {
    code: 0,
    output: /^SKIPPED: "auto" has no key/,
  });
});

t.test('with a key both reasoning modes are compared', async (t) => {
  const double = await startProviderDouble(t);
  double.otherwise(({ schema }) => {
    const fields = schema?.properties ?? {};
    if ('query_type' in fields) return { say: GLOBAL_PLAN_ANSWER };
    if ('final_answer' in fields) return { say: LEVELS_ANSWER, levels: { Good: 1 } };
    return { say: Object.fromEntries(Object.entries(MERGED_ANSWER).filter(([field]) => field in fields)) };
  });
  const sidecar = await testSidecar(t);
  const environment = { ...double.environment('openai'), SIDECAR_URL: sidecar() ?? '' };
  const { code, output } = await run(
    'scripts/compare-reasoning.ts',
    ['docs/example.jpg', '--query', 'Rate this photo.'],
    environment,
  );
  t.equal(code, 0, output);
  const { rows } = JSON.parse(output.slice(output.indexOf('\n{') + 1)) as {
    rows: { reasoning: string; calls: number; status: number }[];
  };
  t.match(rows, [
    { reasoning: 'merged', calls: 2, status: 200 },
    { reasoning: 'paper', calls: 5, status: 200 },
  ]);
});
