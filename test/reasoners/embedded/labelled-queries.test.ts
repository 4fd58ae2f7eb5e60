// The labelled questions, each with the whole plan it must lead to.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { derivePlan } from '../../../src/pipeline/plan-rules.ts';
import { understandQuery } from '../../../src/reasoners/embedded/understanding.ts';
import type { PlannerOutput } from '../../../schemas/planner.ts';
import { VOCABULARY } from './vocabulary.ts';

interface LabelledQuery { id: string; query: string; has_reference: boolean; expect: PlannerOutput }

const path = new URL('../../fixtures/planner-queries.jsonl', import.meta.url);
const labelled = readFileSync(path, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as LabelledQuery);

t.test('every labelled query leads to its plan', (t) => {
  for (const { id, query, has_reference: hasReference, expect } of labelled) {
    const understood = understandQuery(query, VOCABULARY);
    t.strictSame(derivePlan(understood, { hasReference }), expect, `${id}: ${query}`);
  }
  t.end();
});

t.test('plain questions are understood with confidence', (t) => {
  for (const { id, query } of labelled.filter((item) => item.id.startsWith('d'))) {
    const { confidence } = understandQuery(query, VOCABULARY);
    t.ok(confidence >= 0.7 && confidence <= 1, `${id} ${String(confidence)}: ${query}`);
  }
  t.end();
});
