// Models for one fold: runs the fitting command that was given, which may use everything except the groups that are held out.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fold, Run } from './plan.ts';

export interface FittedModels {
  /** For IQA_MODELS_DIR; null: the models that come with the service, whatever they were fitted on. */
  folder: string | null;
  seconds: number;
}

export type FitModels = (run: Run, fold: Fold) => Promise<FittedModels>;

/**
 * `template`: words with {out} for the folder to write, {hold_out} for a file with the names of the groups to leave out, one a line, and {run}
 * for the run's name. No shell reads it. Folds that hold out the same groups share one fit, unless the command wants to know the run.
 */
export function createFitting(template: string | null, workFolder: string, cwd: string): FitModels {
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
