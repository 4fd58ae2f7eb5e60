// Where the checks find their programs and put their reports.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const sidecar = join(root, 'sidecar');
export const python = join(sidecar, '.venv', 'bin', 'python');
export const reports = join(root, '.setup', 'reports');
export const bin = (name) => join(root, 'node_modules', '.bin', name);
export const checksBin = (name) => join(root, '.setup', 'checks-env', 'bin', name);
