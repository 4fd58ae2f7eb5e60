// Copies of the project with the real set-up script, for tests of set-up and `npm start`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { projectRoot } from '../../../src/config/config.ts';

const root = projectRoot();

/** A bare clone with only the files that set-up reads. */
export function createBareClone(t: Test): string {
  const clone = t.testdir({ sidecar: {}, scripts: {}, bin: {} });
  for (const file of [
    'package.json',
    'package-lock.json',
    'scripts/setup.mjs',
    'scripts/setup/load-env.mjs',
    'scripts/setup/lock.mjs',
    'sidecar/requirements.lock',
  ])
    cpSync(join(root, file), join(clone, file));
  return clone;
}

export const pathWithStubs = (clone: string) => `${join(clone, 'bin')}:${process.env['PATH'] ?? ''}`;

/** A small service with the real set-up script and compiler, and a stub of npm. */
export function createSmallProject(t: Test): string {
  const clone = createBareClone(t);
  for (const file of ['tsconfig.json', 'tsconfig.build.json']) cpSync(join(root, file), join(clone, file));
  for (const folder of ['src', 'routes', 'schemas']) {
    mkdirSync(join(clone, folder));
    writeFileSync(join(clone, folder, 'empty.ts'), 'export {};\n');
  }
  writeFileSync(
    join(clone, 'src/server.ts'),
    [
      "import { createServer } from 'node:http';",
      "import { name } from './now.ts';",
      "const server = createServer((_, response) => void import('./later.ts').then(",
      '  (later) => response.end(`${name} ${later.name}`), (error: unknown) => response.end(String(error))));',
      "server.listen(0, '127.0.0.1', () => { console.log(JSON.stringify(server.address())); });",
    ].join('\n'),
  );
  writeVersion(clone, 'first');
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const npm = join(clone, 'bin', 'npm');
  writeFileSync(npm, `#!/bin/sh\necho called >> ${join(clone, 'npm-calls')}\nsleep 1\n`);
  chmodSync(npm, 0o755);
  return clone;
}

export function writeVersion(clone: string, name: string): void {
  for (const file of ['now.ts', 'later.ts'])
    writeFileSync(join(clone, 'src', file), `export const name = '${name}';\n`);
}

export async function setUpAndBuild(clone: string): Promise<{ status: number | null; stderr: string }> {
  const env = { ...process.env, PATH: pathWithStubs(clone), SIDECAR_URL: 'http://sidecar:8000', NODE_V8_COVERAGE: '' };
  const child = spawn(process.execPath, [join(clone, 'scripts/setup.mjs')], {
    cwd: clone,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, stderr };
}
