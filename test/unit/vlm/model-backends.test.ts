// configs/model_backends.yaml: interpolation, validation at boot, names and aliases.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import t from 'tap';
import { loadConfig, projectRoot } from '../../../src/config/config.ts';
import { createReasoners } from '../../../src/reasoners/select.ts';
import { createBackends } from '../../../src/vlm/backends.ts';
import { interpolate } from '../../../src/config/interpolate.ts';
import { Secret } from '../../../src/vlm/transport/secret.ts';
import { registry } from '../../support/run.ts';

const file = join(projectRoot(), 'configs/model_backends.yaml');

/** Loads the shipped file with one change. */
function loadChanged(
  t: { testdir: () => string },
  from: string | RegExp,
  to: string,
  environment: Record<string, string> = {},
) {
  const root = t.testdir();
  for (const name of ['package.json', 'configs'])
    cpSync(join(projectRoot(), name), join(root, name), { recursive: true });
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(from, to);
  if (changed === text) throw new Error('Nothing was changed');
  writeFileSync(join(root, 'configs/model_backends.yaml'), changed);
  return loadConfig(environment, root);
}

// Scenario: planner-design / Configuration Integration
t.test('each role has the settings of the requirements', async (t) => {
  const { models } = loadConfig({});
  for (const role of ['planner', 'executor', 'summarizer'] as const) {
    t.match(models[role], {
      backend: 'auto',
      temperature: 0,
      top_p: 0.1,
      max_tokens: 2048,
      retry_attempts: 3,
      fallback_backend: 'anthropic.claude-3.5-sonnet',
      timeout: Number,
      degrade: 'embedded',
    });
  }
  t.match(models, { reasoning: 'merged', limits: { max_calls: 12 }, images: { long_side: 1024 } });
});

t.test('${NAME:-default}', async (t) => {
  const read = (value: unknown, environment: Record<string, string> = {}) => interpolate(value, environment);
  t.same(read({ a: ['${X:-0.5}', 'x${X:-y}z'], b: 7 }), { a: [0.5, 'xyz'], b: 7 });
  t.same(read('${X:-1}', { X: ' 2 ' }), 2);
  t.same(read('${X:-1}', { X: '' }), 1, 'empty counts as unset');
  t.same(read('${X:-}', {}), null);
  t.same(read('${X:-a}', { X: 'b: [1]\nc: 2' }), 'b: [1]\nc: 2', 'a value never becomes structure');
  t.throws(() => read({ planner: { backend: '${NOWHERE}' } }), {
    message: 'Expected the environment variable NOWHERE for /planner/backend but it is not set',
  });
});

t.test('errors are reported with their path at boot', async (t) => {
  t.throws(() => loadChanged(t, 'temperature: 0.0', 'temperature: hot'), {
    message:
      /^configs\/model_backends\.yaml: Expected a number from 0 to 2 for \/planner\/temperature but received "hot"/,
  });
  t.throws(() => loadChanged(t, 'fallback_backend: anthropic.claude-3.5-sonnet', 'fallback_backend: oracle'), {
    message: /Expected one of openai\.gpt-4o, .* for \/planner\/fallback_backend but received "oracle"/,
  });
  t.throws(() => loadChanged(t, 'provider: local', 'provider: moon'), {
    message:
      /Expected one of openai, anthropic, google, local for \/backends\/qwen2\.5-vl-local\/provider but received "moon"/,
  });
  t.throws(() => loadChanged(t, 'aliases: [gpt-6-luna]', 'aliases: [gpt-4o]'), {
    message: /\/backends\/openai\.gpt-6-luna\/aliases/,
  });
  t.throws(() => loadChanged(t, 'degrade: embedded', 'degrade: perhaps'), { message: /\/planner\/degrade/ });
  t.throws(() => loadChanged(t, 'auto: [openai.gpt-4o', 'auto: [unknown'), { message: /\/auto\/0/ });
  t.throws(() => loadConfig({ IQA_BACKEND: 'openai.gpt-9' }), {
    message: /for \/planner\/backend but received "openai\.gpt-9"/,
  });
  t.throws(() => loadConfig({ OPENAI_BASE_URL: 'ftp://x' }), {
    message: 'Expected an http address for OPENAI_BASE_URL but received "ftp://x"',
  });
  t.throws(
    () => loadConfig({ OPENAI_BASE_URL: 'sk-mixed-up-1234567890' }),
    { message: 'Expected an http address for OPENAI_BASE_URL but received "(key)"' },
    'who mixes up two variables does not find the key in the log',
  );
  t.throws(() => loadConfig({ IQA_MODEL_BACKENDS: 'configs/none.yaml' }), { message: /configs\/none\.yaml/ });
});

t.test('addresses in the environment override the file', async (t) => {
  const fixed = loadChanged(t, '"https://api.openai.com/v1"', '"https://proxy.example/v1"', {
    OPENAI_BASE_URL: 'http://127.0.0.1:1/v1/',
    GOOGLE_API_BASE_URL: 'http://127.0.0.1:2',
    ANTHROPIC_BASE_URL: '',
  });
  t.equal(fixed.providers['openai']?.baseUrl, 'http://127.0.0.1:1/v1');
  t.equal(fixed.providers['google']?.baseUrl, 'http://127.0.0.1:2');
  t.equal(fixed.providers['anthropic']?.baseUrl, 'https://api.anthropic.com');
});

t.test('auto is the first provider whose key is set; an empty key counts as unset', async (t) => {
  const auto = (environment: Record<string, string>) => createBackends(loadConfig(environment)).resolveName('auto');
  t.equal(auto({}), 'embedded');
  t.equal(auto({ OPENAI_API_KEY: '  ' }), 'embedded');
  t.equal(auto({ OPENAI_API_KEY: 'k1', ANTHROPIC_API_KEY: 'k2' }), 'openai.gpt-4o');
  t.equal(auto({ OPENAI_API_KEY: '', ANTHROPIC_API_KEY: 'k2', GOOGLE_API_KEY: 'k3' }), 'anthropic.claude-3.5-sonnet');
  t.equal(auto({ GOOGLE_API_KEY: 'k3' }), 'google.gemini-3.5-flash-lite');
  t.equal(auto({ IQA_LOCAL_VLM_URL: 'http://127.0.0.1:8000/v1' }), 'qwen2.5-vl-local');
});

t.test('names and aliases ignore case; clients are created once', async (t) => {
  const backends = createBackends(loadConfig({ OPENAI_API_KEY: 'k1' }));
  t.equal(backends.resolve('GPT-4o'), backends.resolve('openai.gpt-4o'));
  t.same(backends.resolve('claude-3.5-sonnet'), {
    name: 'anthropic.claude-3.5-sonnet',
    missingSetting: 'ANTHROPIC_API_KEY',
  });
  t.equal(backends.resolve('oracle'), null);
});

t.test('a request chooses a configured back end by name; others are refused with the list', async (t) => {
  const select = createReasoners(loadConfig({ OPENAI_API_KEY: 'k1' }), registry);
  t.match(select(undefined).identity, { kind: 'vlm', backend: 'openai.gpt-4o' });
  t.match(select('embedded').identity, { kind: 'embedded' });
  t.match(select('gpt-6-luna').identity, { backend: 'openai.gpt-6-luna' });
  t.throws(() => select('oracle'), {
    message:
      /Expected one of auto, embedded, openai\.gpt-4o, .*google\.gemini-3\.5-flash-lite \(needs GOOGLE_API_KEY\).* but received "oracle"/,
  });
  t.throws(() => select('google.gemini-3.5-flash-lite'), { code: 'IQA_INPUT_INVALID' });
  t.equal(select('gpt-6-luna'), select('gpt-6-luna'));
  t.match(createReasoners(loadConfig({ IQA_BACKEND: 'embedded', OPENAI_API_KEY: 'k' }), registry)(undefined).identity, {
    kind: 'embedded',
  });
  t.match(createReasoners(loadConfig({}), registry)(undefined).identity, { kind: 'embedded' });
});

t.test('a key cannot be printed', async (t) => {
  const config = loadConfig({ OPENAI_API_KEY: 'sk-very-secret-key' });
  const shown = [
    JSON.stringify(config),
    inspect(config, { depth: 9, showHidden: true }),
    String(config.providers['openai']?.key),
    String(new Secret('sk-very-secret-key')),
  ];
  for (const text of shown) t.notOk(text.includes('very-secret'), text.slice(0, 80));
  t.equal(config.providers['openai']?.key?.reveal(), 'sk-very-secret-key');
});
