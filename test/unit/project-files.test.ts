// Facts that are written in more than one file of the project agree.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { readImageNodeVersion } from '../../scripts/setup/fetch-node.mjs';
import { projectRoot } from '../../src/config/config.ts';
import { computeBodyLimit } from '../../src/uploads/plugin.ts';

const read = (file: string) => readFileSync(join(projectRoot(), file), 'utf8');

t.test('the gateway and the service have the same body limit', async (t) => {
  const [, formula = ''] = /^body_bytes=(.*)$/m.exec(read('gateway/start.sh')) ?? [];
  for (const uploadBytes of [1, 2, 3, 200_000, 25_000_000, 2 ** 31]) {
    const { stdout } = spawnSync('sh', ['-c', `upload_bytes=${uploadBytes}; echo ${formula}`], { encoding: 'utf8' });
    t.equal(Number(stdout), computeBodyLimit(uploadBytes), `${uploadBytes} bytes`);
  }
});

t.test('.nvmrc, the image and CI use the same Node release line', async (t) => {
  const version = read('.nvmrc').trim();
  t.equal(readImageNodeVersion().split('.')[0], version);
  const { jobs } = parse(read('.github/workflows/ci.yml')) as {
    jobs: { unit: { strategy: { matrix: { node: string[] } } } };
  };
  t.ok(jobs.unit.strategy.matrix.node.includes(version));
});

t.test('the images carry the version of the package', async (t) => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const tags = [...read('docker-compose.yml').matchAll(/image: agentic-iqa[\w-]*:(\S+)/g)].map(([, tag]) => tag);
  t.strictSame(
    tags,
    Array.from({ length: 4 }, () => version),
  );
});

t.test('files that SECURITY.md and docs/limits.md name exist', async (t) => {
  const named = [...read('SECURITY.md').matchAll(/`([\w./-]+\.(?:ts|py|yml))`/g)].map(([, file = '']) => file);
  t.ok(named.length > 30);
  const linked = [...read('docs/limits.md').matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) =>
    join(dirname('docs/limits.md'), file),
  );
  for (const file of [...named, ...linked]) t.ok(existsSync(join(projectRoot(), file)), file);
});
