// Reads the project's .env file into the environment; variables that are already set win. Set-up imports it, `npm start` and `npm run dev` preload it.
import { readFileSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';

const file = fileURLToPath(new URL('../../.env', import.meta.url));

try {
  checkLines(readFileSync(file, 'utf8'));
  process.loadEnvFile(file);
} catch (error) {
  if (error.code !== 'ENOENT') {
    process.stderr.write(`The file .env cannot be used: ${error.message}\n`);
    process.exit(1);
  }
}

/** Node's parser takes a line without "=" as the start of the next name, and so loses a setting without a word. */
function checkLines(text) {
  const withoutQuoted = text.replaceAll(/=[ \t]*(["'`])[^]*?\1/g, (quoted) => `=${quoted.replaceAll(/[^\n]/g, '')}`);
  const wrong = withoutQuoted.split(/\r?\n/).findIndex((line) => !/^\s*(#|(export\s+)?[A-Za-z_]\w*\s*=|$)/.test(line));
  // The line itself is not shown: it may hold a key.
  if (wrong !== -1) throw new Error(`Expected NAME=value in line ${wrong + 1} but found something else`);
}
