// Exhaustive mutations of a valid value: each result has one place changed.
import type { Fields } from './refusal.ts';

const JUNK: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  1.5,
  -1,
  5,
  6,
  1e300,
  '',
  ' ',
  '\n\t',
  'x',
  'Global',
  'IQA',
  [],
  [1],
  ['x'],
  ['x', 3],
  ['x', 9],
  [null],
  {},
  { x: 1 },
  { Global: [] },
  { ' ': [] },
];

/** Every place replaced by every junk value, every key removed, an unknown key added to every object. */
export function mutate(value: unknown): unknown[] {
  return [...JUNK, ...mutateChildren(value)];
}

function mutateChildren(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const changed = items.flatMap((item, index) => mutate(item).map((other) => items.with(index, other)));
    return [...changed, [...items, 'x'], items.slice(1)];
  }
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Fields;
  return [
    ...Object.entries(fields).flatMap(([key, item]) => mutate(item).map((other) => ({ ...fields, [key]: other }))),
    ...Object.keys(fields).map((key) => Object.fromEntries(Object.entries(fields).filter(([other]) => other !== key))),
    { ...fields, unknown_field: 1 },
    { ...fields, constructor: 1 },
    JSON.parse(
      JSON.stringify(fields).replace(/^\{/, Object.keys(fields).length > 0 ? '{"__proto__":1,' : '{"__proto__":1'),
    ),
  ];
}
