// Schema and validation of the summarizer's reply in each mode: a level, an option's label, or a short answer.
import Type, { type Static, type TSchema } from 'typebox';
import { explain } from '../../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../../schemas/validation/model.ts';
import { LEVELS, NonBlank, OrNull, type Level } from '../../../../schemas/vocabulary.ts';
import type { AnswerOption } from '../../embedded/query/answer-options.ts';
import { canonicalValue, LEVEL_SYNONYMS, type OnRepair } from '../normalize-reply.ts';
import type { AnswerMode } from './prompts.ts';

const Share = Type.Number({ minimum: 0, maximum: 1 });
const Probabilities = Type.Object(
  Object.fromEntries([...LEVELS].reverse().map((level) => [level, Share])) as Record<Level, typeof Share>,
);

/** Far more characters than max_tokens allows: only a server that ignores the limit sends as many. */
const MAX_TEXT_LENGTH = 20_000;

const Rest = {
  quality_reasoning: NonBlank('Why, with the evidence.', { maxLength: MAX_TEXT_LENGTH }),
  need_replan: Type.Optional(Type.Boolean({ description: 'Whether the evidence does not suffice.' })),
  replan_reason: Type.Optional(OrNull(Type.String(), 'What is missing, or null.')),
};

export interface SummaryReply extends Static<typeof Body> {
  final_answer: string;
}
const Body = Type.Object({ ...Rest, probabilities: Type.Optional(OrNull(Probabilities, 'Of the five levels.')) });

interface SummaryForm {
  mode: AnswerMode;
  options: readonly AnswerOption[];
  declaresProbabilities: boolean;
}

export function summarySchema({ mode, options, declaresProbabilities }: SummaryForm): TSchema {
  const answers: Record<AnswerMode, () => TSchema> = {
    scoring: () => Type.Enum([...LEVELS].reverse(), { description: 'The level.' }),
    explanation: () => NonBlank('The short answer.', { maxLength: MAX_TEXT_LENGTH }),
    multiple_choice: () =>
      Type.Enum(
        options.map(({ letter }) => letter),
        { description: 'The label of the right option.' },
      ),
  };
  return Type.Object({
    final_answer: answers[mode](),
    ...(declaresProbabilities ? { probabilities: Body.properties.probabilities } : {}),
    ...Rest,
  });
}

export function readSummary(
  value: Record<string, unknown>,
  schema: TSchema,
  { mode, options }: SummaryForm,
  onRepair: OnRepair,
): SummaryReply {
  const received = value['final_answer'];
  const answer =
    mode === 'scoring'
      ? canonicalValue(received, LEVELS, LEVEL_SYNONYMS, onRepair)
      : mode === 'multiple_choice'
        ? normalizeLabel(received, options, onRepair)
        : received;
  const draft = { ...value, final_answer: answer };
  const issues = explain(schema, draft);
  if (issues.length > 0) throw new ValidationError('summarizer answer', issues);
  return draft as unknown as SummaryReply;
}

/** "b", "(B)", "B. Blur", "Option B" and the option's own text all mean B. "A blur" does not mean A: there it is an article. */
function normalizeLabel(given: unknown, options: readonly AnswerOption[], onRepair: OnRepair): unknown {
  if (typeof given !== 'string' || options.some(({ letter }) => letter === given)) return given;
  const plain = given
    .trim()
    .toLowerCase()
    .replace(/^(?:the )?(?:correct |right )?(?:option|answer)(?: is)?\W+/, '');
  const sameText = options.find(({ text }) => text.toLowerCase() === plain.replace(/[.!]+$/, ''));
  const found =
    sameText ??
    options.find(({ letter, text }) => {
      const rest = new RegExp(`^["'([]?${letter.toLowerCase()}(?![a-z0-9])(.*)$`, 's').exec(plain)?.[1];
      return rest !== undefined && (/^["'\s]*([).:\]=–—-](?!\d)|$)/.test(rest) || rest.trim() === text.toLowerCase());
    });
  if (!found) return given;
  onRepair(`"${given.slice(0, 40)}" read as "${found.letter}"`);
  return found.letter;
}
