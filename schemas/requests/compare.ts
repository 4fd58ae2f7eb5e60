// The request of POST /compare. Uploaded files are replaced by handles before validation (src/uploads/compare-form.ts).
import Type, { type Static } from 'typebox';
import { AssessRequest, Base64File, DEFAULT_QUERY, example, File } from './assess.ts';
import { EXAMPLE_IMAGE, EXAMPLE_IMAGE_BLURRED } from './example-image.ts';
import { NonBlank } from '../vocabulary.ts';

export const MIN_COMPARED = 2;
export const MAX_COMPARED = 8;
const COUNT = { minItems: MIN_COMPARED, maxItems: MAX_COMPARED } as const;
const { align, backend } = AssessRequest.properties;

const plainFields = {
  query: Type.Optional(
    NonBlank('The question, asked about every image. Images are ranked by the quality scores of the answers.', {
      maxLength: 20_000,
      ...example(DEFAULT_QUERY),
    }),
  ),
  align,
  backend,
};

export const CompareRequest = Type.Object(
  {
    images: Type.Array(File('An image to compare.'), {
      ...COUNT,
      description:
        'Two to eight images, one file per repeated field. They are called image 1, image 2, … in this order.',
    }),
    reference: Type.Optional(File('The pristine original of all images, of the same size, for full-reference tools.')),
    ...plainFields,
  },
  { additionalProperties: false, description: 'Which of these images is the best?' },
);
export type CompareRequest = Static<typeof CompareRequest>;

export const CompareJsonRequest = Type.Object(
  {
    images: Type.Array(Base64File('An image to compare.'), {
      ...COUNT,
      description: 'Two to eight images. They are called image 1, image 2, … in this order.',
    }),
    reference: Type.Optional(
      Base64File('The pristine original of all images, of the same size, for full-reference tools.'),
    ),
    ...plainFields,
  },
  {
    additionalProperties: false,
    description: 'Which of these images is the best? Files as base64.',
    examples: [
      { images: [{ base64: EXAMPLE_IMAGE }, { base64: EXAMPLE_IMAGE_BLURRED }], query: DEFAULT_QUERY },
      { images: [{ base64: EXAMPLE_IMAGE_BLURRED }, { base64: EXAMPLE_IMAGE }], reference: { base64: EXAMPLE_IMAGE } },
    ],
  },
);
export type CompareJsonRequest = Static<typeof CompareJsonRequest>;
