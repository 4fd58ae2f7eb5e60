// Settings: defaults, error messages, and a complete table.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig, projectRoot } from '../../../src/config/config.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import { ERROR_KINDS, IqaError } from '../../../src/errors.ts';
import { createProblem } from '../../../src/http/error-handler.ts';

t.test('defaults, frozen', async (t) => {
  const config = loadConfig({});
  t.match(config, {
    host: '127.0.0.1',
    port: 3000,
    logLevel: 'info',
    spoolDir: null,
    maxUploadBytes: 25_000_000,
    maxPixels: 50_000_000,
    sidecarUrl: null,
  });
  t.ok(config.pipeline.cache.entries >= 1_000);
  t.throws(() => {
    config.pipeline.fusion.eta = 2;
  }, TypeError);
});

t.test('an empty setting counts as unset, and addresses lose their trailing slash', async (t) => {
  t.match(loadConfig({ IQA_PORT: ' ', SIDECAR_URL: 'http://sidecar:8000/' }), {
    port: 3000,
    sidecarUrl: 'http://sidecar:8000',
  });
});

t.test('an invalid setting is named in the error', async (t) => {
  t.throws(() => loadConfig({ IQA_PORT: '70000' }), {
    message: 'Expected an integer from 0 to 65535 for IQA_PORT but received "70000"',
  });
  const root = t.testdir({ configs: {} });
  cpSync(join(projectRoot(), 'package.json'), join(root, 'package.json'));
  t.throws(() => loadConfig({}, root), { name: 'ConfigError', message: /configs\/pipeline\.yaml/ });
  const yaml = readFileSync(join(projectRoot(), 'configs/pipeline.yaml'), 'utf8');
  writeFileSync(join(root, 'configs/pipeline.yaml'), yaml.replace('eta: 1 ', 'eta: lots '));
  t.throws(() => loadConfig({}, root), {
    message: 'configs/pipeline.yaml: Expected a number of at least 0 for /fusion/eta but received "lots"',
  });
  writeFileSync(join(root, 'configs/pipeline.yaml'), `${yaml}\nsurprise: 1\n`);
  t.throws(() => loadConfig({}, root), { message: /Unexpected \/surprise/ });
});

t.test('every setting that the code reads is in the table and in .env.example', async (t) => {
  const example = readFileSync(join(projectRoot(), '.env.example'), 'utf8');
  for (const name of Object.keys(SETTINGS)) t.ok(example.includes(`#${name}=`), name);
});

t.test('every error code has a status of its group and becomes a problem', async (t) => {
  for (const [code, { status }] of Object.entries(ERROR_KINDS)) {
    t.equal(status < 500, code.startsWith('IQA_INPUT_'), `${code}: only input is the caller's fault`);
  }
  t.match(createProblem(new IqaError('IQA_BUSY', 'Later'), 'id'), {
    status: 503,
    detail: 'Later',
    code: 'IQA_BUSY',
    type: '/errors/IQA_BUSY',
    request_id: 'id',
  });
});
