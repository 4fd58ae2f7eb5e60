// The response of POST /compare: the images from best to worst, and for each pair which is better, how sure that is, and why.
import Type, { type Static } from 'typebox';
import { Finding, ImageInfo, Metadata, QualityScore } from './assessment.ts';
import { MAX_COMPARED, MIN_COMPARED } from '../requests/compare.ts';
import { defineModel } from '../validation/model.ts';
import { OrNull } from '../vocabulary.ts';

const closed = { additionalProperties: false } as const;

const ImageNumber = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_COMPARED, description });
const position = 'Number of the image in the request, from 1.';

export const RankedImage = Type.Object(
  {
    rank: OrNull(
      Type.Integer({ minimum: 1, maximum: MAX_COMPARED }),
      'Rank by score, from 1; null without a score. `pairs` tells whether the distance to the next is significant.',
    ),
    number: ImageNumber(position),
    id: Type.String({ description: 'Identifier of the assessment of this image.' }),
    image: ImageInfo,
    quality_score: OrNull(QualityScore, 'The fused score with its 80 % interval, or null when there is none.'),
    spread: OrNull(
      Type.Number({ minimum: 0 }),
      'Standard deviation used for the pairs: from the interval, or the configured one if there is no interval.',
    ),
    findings: Type.Array(Finding, { maxItems: 3, description: 'Its worst findings, worst first, at most three.' }),
    final_answer: OrNull(Type.String(), 'The answer to the question for this image alone.'),
    quality_reasoning: OrNull(Type.String(), 'The reasons for that answer.'),
    too_close_to: Type.Array(ImageNumber(position), {
      description: 'Images whose difference to this one is too close to call.',
    }),
    degraded_reason: OrNull(Type.String(), 'What failed or was replaced in its assessment, or null.'),
  },
  { ...closed, description: 'One image of the comparison.' },
);
export type RankedImage = Static<typeof RankedImage>;

export const Pair = Type.Object(
  {
    images: Type.Array(ImageNumber(position), {
      minItems: 2,
      maxItems: 2,
      description: 'The two images, higher score first.',
    }),
    better: OrNull(ImageNumber(position), 'The better image; null if it is too close to call or one has no score.'),
    too_close: Type.Boolean({ description: 'Whether both have a score and the difference is too close to call.' }),
    difference: OrNull(Type.Number({ minimum: 0, maximum: 4 }), 'Difference of the scores; null if one is missing.'),
    probability: OrNull(
      Type.Number({ minimum: 0.5, maximum: 1 }),
      'Probability that the first is really better; null if a score is missing.',
    ),
    verdict: Type.String({ description: 'The outcome as a sentence.' }),
    reasons: Type.Array(Type.String(), {
      description: 'What is worse in the second image, then what is worse in the first, with findings and tool values.',
    }),
  },
  { ...closed, description: 'Two images compared.' },
);
export type Pair = Static<typeof Pair>;

const Rule = Type.Object(
  {
    decided_at: Type.Number({
      minimum: 0.5,
      maximum: 1,
      description: 'Probability above which an image is called better.',
    }),
    shared_error: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Assumed correlation of the errors of two scores.',
    }),
    spread_without_interval: Type.Number({
      minimum: 0,
      description: 'Standard deviation assumed for a score without an interval.',
    }),
  },
  { ...closed, description: 'The rule for what is too close to call.' },
);

export const Comparison = defineModel(
  'Comparison',
  Type.Object(
    {
      id: Type.String({ description: 'Identifier of this comparison.' }),
      query: Type.String({ description: 'The question, as asked about every image.' }),
      reference: OrNull(ImageInfo, 'The reference as received, or null.'),
      verdict: Type.String({ description: 'The outcome in a sentence or two.' }),
      best: OrNull(
        ImageNumber(position),
        'The image that is better than all others; null if it is too close to call or there are no scores.',
      ),
      ranking: Type.Array(RankedImage, {
        minItems: MIN_COMPARED,
        maxItems: MAX_COMPARED,
        description: 'Best first; images without a score last.',
      }),
      pairs: Type.Array(Pair, { description: 'All pairs, in the order of the ranking.' }),
      rule: Rule,
      notes: Type.Array(Type.String(), { description: 'Remarks on the result.' }),
      metadata: Metadata,
    },
    { ...closed, description: 'Which of several images is the best, how sure that is, and why.' },
  ),
  { publish: 'output' },
);
export type Comparison = Static<typeof Comparison>;
