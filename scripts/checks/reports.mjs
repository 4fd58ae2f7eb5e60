// Reads the reports of pytest, tap and the contract test: how many passed, and what failed.
import { existsSync, readFileSync } from 'node:fs';

/** In CI nothing may be missing that a test needs, so a skipped test counts as failed there. */
const countSkipped = (skipped, what) =>
  skipped > 0 && process.env.CI
    ? { failed: 1, failures: [`${skipped} ${what} were skipped in CI`] }
    : { failed: 0, failures: [] };

export function countPytest(report, status) {
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const suite = xml.match(/<testsuite [^>]*>/)?.[0] ?? '';
  const number = (name) => Number(suite.match(new RegExp(`${name}="(\\d+)"`))?.[1] ?? 0);
  const failed = number('failures') + number('errors');
  const skipped = countSkipped(number('skipped'), 'Python tests');
  const failures = [
    ...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error) message="([^"]*)"/g),
  ].map(([, file, name, message]) => `${file} ${name}: ${message.slice(0, 300)}`);
  return {
    passed: number('tests') - failed - number('skipped'),
    failed: (status === 0 ? failed : Math.max(1, failed)) + skipped.failed,
    failures: [...failures, ...skipped.failures],
  };
}

export function countTap(report, status) {
  const results = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const summary = results.match(/^# \{ total: .*\}$/m)?.[0] ?? '';
  const number = (name) => Number(summary.match(new RegExp(`${name}: (\\d+)`))?.[1] ?? 0);
  const skipped = countSkipped(number('skip'), 'TypeScript tests');
  return {
    passed: number('pass'),
    failed: (status === 0 ? number('fail') : Math.max(1, number('fail'))) + skipped.failed,
    failures: [...listTapFailures(results), ...skipped.failures],
  };
}

export function countContract(report, status) {
  const { passed, failed } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { passed: 0, failed: 1 };
  return { passed, failed: status === 0 ? failed : Math.max(1, failed) };
}

/** The innermost failures of nested TAP, each with the subtests it lies in and the first lines of its diagnosis. */
function listTapFailures(results) {
  const lines = results.split('\n');
  const path = [];
  const found = [];
  lines.forEach((line, index) => {
    const [, indent, subtest, failure] = line.match(/^( *)(?:# Subtest: (.*)|not ok \d+ - (.*))$/) ?? [];
    if (indent === undefined) return;
    const depth = indent.length / 4;
    if (subtest !== undefined) path.splice(depth, Infinity, subtest);
    else if (!/# (?:SKIP|TODO)/.test(failure) && !found.some(({ end }) => end === depth + 1)) {
      const ends = lines.indexOf(`${indent}  ...`, index);
      const diagnosis = lines
        .slice(index + 1, Math.min(ends, index + 30))
        .map((text) => text.slice(indent.length, 400));
      found.push({ end: depth, text: [[...path.slice(0, depth), failure].join(' > '), ...diagnosis].join('\n') });
    } else
      found.forEach((one) => {
        if (one.end === depth + 1) one.end = depth;
      });
  });
  return found.map(({ text }) => text);
}
