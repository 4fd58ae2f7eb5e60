// Fits the models of one fold with the given command, which may use everything except the held-out groups.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fold, Run } from './plan.ts';

export interface FittedModels {
  /** For IQA_MODELS_DIR; null: the packaged models, which may be fitted on the test images. */
  folder: string | null;
  seconds: number;
}

export type FitModels = (run: Run, fold: Fold) => Promise<FittedModels>;

/**
 * `template`: a command with {out} for the output folder, {hold_out} for a file with one held-out group per line, and {run} for the run's name.
 * It is not run by a shell. Folds that hold out the same groups share one fit, unless the command uses {run}.
 */
export function createModelFitter(template: string | null, workFolder: string, cwd: string): FitModels {
  const done = new Map<string, Promise<FittedModels>>();
  return (run, { holdOut }) => {
    if (template === null) return Promise.resolve({ folder: null, seconds: 0 });
    const key = createHash('sha256')
      .update(JSON.stringify([holdOut, template.includes('{run}') ? run.name : '']))
      .digest('hex')
      .slice(0, 16);
    const fit = done.get(key) ?? fitOnce(template, run.name, holdOut, join(workFolder, `models-${key}`), cwd);
    done.set(key, fit);
    return fit;
  };
}

async function fitOnce(
  template: string,
  run: string,
  holdOut: readonly string[],
  out: string,
  cwd: string,
): Promise<FittedModels> {
  mkdirSync(out, { recursive: true });
  const holdOutFile = `${out}-hold-out.txt`;
  writeFileSync(holdOutFile, `${holdOut.join('\n')}\n`);
  const values: Record<string, string> = { out, hold_out: holdOutFile, run };
  const [command = '', ...args] = template
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole));
  const started = performance.now();
  const code = await new Promise<number | null>((resolve, reject) => {
    spawn(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
      .on('error', reject)
      .on('exit', resolve);
  });
  if (code !== 0) throw new Error(`Fitting ended with ${code}: ${[command, ...args].join(' ')}`);
  return { folder: out, seconds: (performance.now() - started) / 1000 };
}
