// The answer of POST /compare: the pictures from best to worst, and for every two of them which is better, how sure that is, and why.
import Type, { type Static } from 'typebox';
import { Finding, ImageInfo, Metadata, QualityScore } from './assessment.ts';
import { MAX_COMPARED, MIN_COMPARED } from '../requests/compare.ts';
import { defineModel } from '../validation/model.ts';
import { OrNull } from '../vocabulary.ts';

const closed = { additionalProperties: false } as const;

const PictureNumber = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_COMPARED, description });
const position = 'Number of the picture in the request, from 1.';

export const RankedPicture = Type.Object(
  {
    rank: OrNull(
      Type.Integer({ minimum: 1, maximum: MAX_COMPARED }),
      'Place by score, from 1; null without a score. Whether it is far from the next, `pairs` says.',
    ),
    picture: PictureNumber(position),
    id: Type.String({ description: 'Identifier of the assessment of this picture.' }),
    image: ImageInfo,
    quality_score: OrNull(QualityScore, 'The fused score with its 80 % interval, or null when there is none.'),
    spread: OrNull(
      Type.Number({ minimum: 0 }),
      'Standard deviation that the pairs are judged by: from the interval, or the configured one where there is no interval.',
    ),
    findings: Type.Array(Finding, { maxItems: 3, description: 'What was found in it, worst first, at most three.' }),
    final_answer: OrNull(Type.String(), 'The answer to the question for this picture alone.'),
    quality_reasoning: OrNull(Type.String(), 'What that answer rests on.'),
    too_close_to: Type.Array(PictureNumber(position), { description: 'Pictures that it cannot be told from.' }),
    degraded_reason: OrNull(Type.String(), 'What failed or was replaced in its assessment, or null.'),
  },
  { ...closed, description: 'One picture of the comparison.' },
);
export type RankedPicture = Static<typeof RankedPicture>;

export const Pair = Type.Object(
  {
    pictures: Type.Array(PictureNumber(position), {
      minItems: 2,
      maxItems: 2,
      description: 'The two, higher score first.',
    }),
    better: OrNull(PictureNumber(position), 'The better one; null when it is too close to call, or one has no score.'),
    too_close: Type.Boolean({ description: 'Whether both have a score and it is too close to call.' }),
    difference: OrNull(Type.Number({ minimum: 0, maximum: 4 }), 'Of the scores; null when one is missing.'),
    probability: OrNull(
      Type.Number({ minimum: 0.5, maximum: 1 }),
      'That the first is really the better one; null when a score is missing.',
    ),
    verdict: Type.String({ description: 'The same as a sentence.' }),
    reasons: Type.Array(Type.String(), {
      description: 'What is worse in the second, then what is worse in the first, quoting findings and tool values.',
    }),
  },
  { ...closed, description: 'Two pictures beside each other.' },
);
export type Pair = Static<typeof Pair>;

const Rule = Type.Object(
  {
    decided_at: Type.Number({
      minimum: 0.5,
      maximum: 1,
      description: 'Probability from which on a picture is called better.',
    }),
    shared_error: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Assumed correlation of the errors of two scores.',
    }),
    spread_without_interval: Type.Number({
      minimum: 0,
      description: 'Standard deviation assumed for a score that has no interval.',
    }),
  },
  { ...closed, description: 'How it was decided what is too close to call.' },
);

export const Comparison = defineModel(
  'Comparison',
  Type.Object(
    {
      id: Type.String({ description: 'Identifier of this comparison.' }),
      query: Type.String({ description: 'The question, as asked about every picture.' }),
      reference: OrNull(ImageInfo, 'The reference as received, or null.'),
      verdict: Type.String({ description: 'The outcome in a sentence or two.' }),
      best: OrNull(
        PictureNumber(position),
        'The picture that is better than every other; null when it is too close to call or there are no scores.',
      ),
      ranking: Type.Array(RankedPicture, {
        minItems: MIN_COMPARED,
        maxItems: MAX_COMPARED,
        description: 'Best first; those without a score last.',
      }),
      pairs: Type.Array(Pair, { description: 'Every two of them, in the order of the ranking.' }),
      rule: Rule,
      notes: Type.Array(Type.String(), { description: 'What else a careful reader should know.' }),
      metadata: Metadata,
    },
    { ...closed, description: 'Which of several pictures is the best, how sure that is, and why.' },
  ),
  { publish: 'output' },
);
export type Comparison = Static<typeof Comparison>;
