// The .env file: read by `npm start`, `npm run dev` and set-up, or refused with one clear sentence.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { projectRoot } from '../../../src/config/config.ts';
import { pathWithStubs, setUpAndBuild, createSmallProject } from '../../support/system/small-project.ts';

/** A project with the real scripts of package.json, whose program prints two of its settings. */
function createEnvProject(t: Test, file: string): string {
  const clone = createSmallProject(t);
  writeFileSync(join(clone, '.env'), file);
  writeFileSync(
    join(clone, 'src/server.ts'),
    "console.log(JSON.stringify([process.env['IQA_HOST'], process.env['IQA_PORT']]));\n",
  );
  return clone;
}

/** The real npm starts the service, but set-up finds the stub: `npm ci` here would empty the linked node_modules. */
function runNpmStart(clone: string, environment: Record<string, string>) {
  const { SIDECAR_URL: _, ...inherited } = process.env;
  const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
  const { status, stdout, stderr } = spawnSync(npm, ['start', '--silent'], {
    cwd: clone,
    env: { ...inherited, PATH: pathWithStubs(clone), NODE_V8_COVERAGE: '', ...environment },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

t.test('npm start reads .env, also for set-up; variables that are already set win', async (t) => {
  const clone = createEnvProject(
    t,
    "# settings\nSIDECAR_URL=http://sidecar:8000\nexport IQA_HOST='::1' # v6\nIQA_PORT=4000\n",
  );
  t.equal((await setUpAndBuild(clone)).status, 0);
  t.match(runNpmStart(clone, { IQA_PORT: '5000', IQA_PYTHON: '/nowhere/python' }), {
    status: 0,
    stdout: '["::1","5000"]\n',
  });
});

t.test('a .env file that cannot be used is one clear sentence, which does not quote it', async (t) => {
  const clone = createEnvProject(t, 'IQA_HOST="a\nb"\nsk-secret\nIQA_PORT=4000\n');
  t.match(runNpmStart(clone, {}), {
    status: 1,
    stderr: /^The file \.env cannot be used: Expected NAME=value in line 3 but found something else\n$/,
  });
  rmSync(join(clone, '.env'));
  mkdirSync(join(clone, '.env'));
  t.match(runNpmStart(clone, {}), { status: 1, stderr: /^The file \.env cannot be used: EISDIR: [^\n]*\n$/ });
});

t.test('npm run dev reads .env too', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['start', 'dev']) t.match(scripts[name], /--import=\.\/scripts\/setup\/load-env\.mjs/);
});
