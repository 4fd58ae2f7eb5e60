// The prompts: constants in code, versioned, with the paper's fields, rules and closed lists.
import { createHash } from 'node:crypto';
import t from 'tap';
import { DISTORTION_CATEGORIES, LEVELS, SEVERITIES } from '../../../../schemas/vocabulary.ts';
import {
  EXECUTOR_PROMPT_VERSION,
  executorPrompt,
  executorSystem,
} from '../../../../src/reasoners/vlm/executor/prompts.ts';
import { PLANNER_PROMPT_VERSION, PLANNER_SYSTEM, plannerPrompt } from '../../../../src/reasoners/vlm/planner/prompt.ts';
import {
  SUMMARIZER_PROMPT_VERSION,
  summarizerPrompt,
  summarizerSystem,
} from '../../../../src/reasoners/vlm/summarizer/prompts.ts';
import { registry } from '../../../support/run.ts';

const ALL = { detection: true, analysis: true, selection: true, boxes: true };
const digest = (...texts: string[]) => createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 12);

// Scenario: planner-design / Prompt Template Management
t.test('the planner prompt has every field of the plan and every category', async (t) => {
  for (const field of [
    'query_type',
    'query_scope',
    'distortion_source',
    'distortions',
    'reference_mode',
    'required_tool',
    'distortion_detection',
    'distortion_analysis',
    'tool_selection',
    'tool_execution',
  ]) {
    t.ok(PLANNER_SYSTEM.includes(field), field);
  }
  for (const category of DISTORTION_CATEGORIES) t.ok(PLANNER_SYSTEM.includes(category), category);
  t.match(PLANNER_SYSTEM, /^You are the planner/);
  const prompt = plannerPrompt(
    {
      input: { query: 'Is it?', image_path: '/spool/secret', reference_path: null, prior_context: { earlier: 1 } },
      question: { query: 'Is it?', choices: ['yes'] },
      replan: null,
    },
    registry.rows,
  );
  t.match(prompt, /"question": "Is it\?"[\s\S]*"earlier": 1[\s\S]*"BRISQUE"/);
  t.notMatch(prompt, /spool/, 'no path is sent to a model');
});

t.test('the executor prompt has only the requested parts', async (t) => {
  for (const word of [...DISTORTION_CATEGORIES, ...SEVERITIES]) t.ok(executorSystem(ALL).includes(word), word);
  t.notMatch(executorSystem({ ...ALL, selection: false, boxes: false }), /selected_tools|boxes/);
  const prompt = executorPrompt(ALL, {
    query: 'Is it?',
    objects: ['Global'],
    distortions: null,
    hasReference: false,
    tools: registry.rows.filter(({ type }) => type === 'NR'),
  });
  t.notMatch(prompt, /SSIM/, 'only tools that can be run');
});

t.test('three modes of the summarizer', async (t) => {
  for (const level of LEVELS) t.ok(summarizerSystem('scoring', false).includes(level), level);
  t.notMatch(summarizerSystem('scoring', false), /probabilities:/);
  t.match(summarizerSystem('scoring', true), /probabilities: /);
  t.match(summarizerSystem('multiple_choice', false), /label/);
  t.match(
    summarizerPrompt({ query: 'Which?', options: [{ letter: 'A', text: 'Blur' }], evidence: {} }),
    /"label": "A"/,
  );
});

t.test('a change of wording needs a new version: answers are cached by it', async (t) => {
  t.same(
    {
      planner: [PLANNER_PROMPT_VERSION, digest(PLANNER_SYSTEM)],
      executor: [EXECUTOR_PROMPT_VERSION, digest(executorSystem(ALL))],
      summarizer: [
        SUMMARIZER_PROMPT_VERSION,
        digest(
          ...(['scoring', 'explanation', 'multiple_choice'] as const).map((mode) =>
            summarizerSystem(mode, mode === 'scoring'),
          ),
        ),
      ],
    },
    { planner: ['2', '7c5eca2bd9ba'], executor: ['3', '0bfd8b6cb57d'], summarizer: ['2', '5ddee9504c55'] },
  );
});
