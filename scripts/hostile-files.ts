// Writes the hostile files of the tests to a folder: node --import=ts-blank-space/register scripts/hostile-files.ts <folder>
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeHostileFiles } from '../test/system/hostile/files.ts';

const [, , folder] = process.argv;
if (!folder) {
  console.error('Expected a folder to write to: scripts/hostile-files.ts <folder>');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const files = await makeHostileFiles();
for (const { name, data } of files) writeFileSync(join(folder, name.replaceAll(/[^\w.-]+/g, '-')), data);
console.log(`${files.length} files in ${folder}`);
