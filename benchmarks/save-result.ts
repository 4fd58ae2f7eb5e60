// Writes the result of a benchmark to benchmarks/results, with date, commit and machine.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';

export function saveResult(benchmark: string, figures: object): void {
  const date = new Date().toISOString();
  const result = {
    benchmark,
    date,
    commit: readCommit(),
    machine: { ...describeMachine(), load_average: roundTo2(loadavg()[0] ?? 0) },
    ...figures,
  };
  const text = JSON.stringify(result, null, 2);
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${benchmark}-${date.slice(0, 10)}.json`), `${text}\n`);
  console.log(text);
}

export function readCommit(): string {
  const cwd = import.meta.dirname;
  return spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd }).stdout.trim();
}

export function describeMachine(): { cpu: string; cores: number; node: string } {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
}

export const roundTo2 = (value: number): number => Math.round(value * 100) / 100;

/** The nearest sample at or above the share, without interpolation. */
export function pickQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return roundTo2(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
}
