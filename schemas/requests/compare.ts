// The door of comparisons: what POST /compare takes. Files are handles by the time this schema sees them (see src/uploads/compare-form.ts).
import Type, { type Static } from 'typebox';
import { AssessRequest, Base64File, DEFAULT_QUERY, example, File } from './assess.ts';
import { EXAMPLE_PICTURE, EXAMPLE_PICTURE_BLURRED } from './example-image.ts';
import { NonBlank } from '../vocabulary.ts';

export const MIN_COMPARED = 2;
export const MAX_COMPARED = 8;
const COUNT = { minItems: MIN_COMPARED, maxItems: MAX_COMPARED } as const;
const { align, backend } = AssessRequest.properties;

const plainFields = {
  query: Type.Optional(
    NonBlank('The question, asked about every picture alike. The ranking is by the quality scores of the answers.', {
      maxLength: 20_000,
      ...example(DEFAULT_QUERY),
    }),
  ),
  align,
  backend,
};

export const CompareRequest = Type.Object(
  {
    images: Type.Array(File('A picture to compare.'), {
      ...COUNT,
      description:
        'Two to eight pictures: the field repeated, a file each. They are called picture 1, 2, … in this order.',
    }),
    reference: Type.Optional(
      File('The pristine original that all of them are versions of, of their size, for full-reference tools.'),
    ),
    ...plainFields,
  },
  { additionalProperties: false, description: 'Which of these pictures is the best?' },
);
export type CompareRequest = Static<typeof CompareRequest>;

export const CompareJsonRequest = Type.Object(
  {
    images: Type.Array(Base64File('A picture to compare.'), {
      ...COUNT,
      description: 'Two to eight pictures. They are called picture 1, 2, … in this order.',
    }),
    reference: Type.Optional(
      Base64File('The pristine original that all of them are versions of, of their size, for full-reference tools.'),
    ),
    ...plainFields,
  },
  {
    additionalProperties: false,
    description: 'Which of these pictures is the best? Files as base64.',
    examples: [
      { images: [{ base64: EXAMPLE_PICTURE }, { base64: EXAMPLE_PICTURE_BLURRED }], query: DEFAULT_QUERY },
      {
        images: [{ base64: EXAMPLE_PICTURE_BLURRED }, { base64: EXAMPLE_PICTURE }],
        reference: { base64: EXAMPLE_PICTURE },
      },
    ],
  },
);
export type CompareJsonRequest = Static<typeof CompareJsonRequest>;
