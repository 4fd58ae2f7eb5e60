// The request of POST /assess. Uploaded files are replaced by handles before validation (src/uploads/assess-form.ts).
import Type, { type Static } from 'typebox';
import { EXAMPLE_IMAGE } from './example-image.ts';
import { Box } from '../sidecar.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../pipeline/state.ts';
import { NonBlank } from '../vocabulary.ts';

export const DEFAULT_QUERY = 'How is the overall quality of this image?';
export const MAX_REPLAN_LIMIT = 10;

export const File = (description: string) => Type.String({ format: 'binary', description });

/** The value with which Swagger UI fills a field. */
export const example = <T>(value: T) => ({ examples: [value] });

export const Region = Type.Object(
  { name: NonBlank('Name of the object, as used in the query.', { maxLength: 100 }), box: Box },
  { additionalProperties: false, description: 'An object and its box.' },
);
export type Region = Static<typeof Region>;

/** A UUID of any version. Clients should choose an unguessable one: anyone who knows the id can fetch the answer. */
export const AssessmentId = (description: string) =>
  Type.String({
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    description,
    ...example('6b1f4f5e-0c55-4c3f-9d0a-3f6f0c1f7a11'),
  });

export const AssessRequest = Type.Object(
  {
    image: File('The image to assess.'),
    reference: Type.Optional(File('The pristine original, of the same size, for full-reference tools.')),
    query: Type.Optional(NonBlank('The question about the image.', { maxLength: 20_000, ...example(DEFAULT_QUERY) })),
    max_replan_iterations: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_REPLAN_LIMIT,
        default: DEFAULT_MAX_REPLAN_ITERATIONS,
        description: 'Limit of the replanning loop. A limit of N allows N − 1 replans; 0 and 1 allow none.',
      }),
    ),
    choices: Type.Optional(
      Type.Array(NonBlank('An answer option.', { maxLength: 1_000 }), {
        minItems: 2,
        maxItems: 26,
        description: 'Answer options, in addition to those in the query. Repeat the field, or send one JSON array.',
        ...example([]),
      }),
    ),
    regions: Type.Optional(
      Type.Array(Region, {
        maxItems: 16,
        description: 'Boxes of objects in pixels of the upright image (a JSON array).',
        ...example([]),
      }),
    ),
    prior_context: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Results of earlier turns of a conversation (a JSON object).',
        ...example({}),
      }),
    ),
    align: Type.Optional(
      Type.Enum(['none', 'resize'], {
        type: 'string',
        default: 'none',
        description: 'What to do with a reference of another size: none refuses it, resize resizes it.',
      }),
    ),
    backend: Type.Optional(
      NonBlank('The reasoner: "auto", "embedded", or the name of a configured back end.', {
        maxLength: 100,
        ...example('auto'),
      }),
    ),
    maps: Type.Optional(
      Type.Array(NonBlank('Name of a tool.', { maxLength: 100 }), {
        maxItems: 8,
        description:
          'Tools whose local maps (where in the image a distortion is) to return, or "blur", "noise" and "blockiness", which need no reference. Repeat the field, or send one JSON array.',
        ...example([]),
      }),
    ),
  },
  { additionalProperties: false, description: 'A question about the quality of an image.' },
);
export type AssessRequest = Static<typeof AssessRequest>;

const { image, reference, ...plainFields } = AssessRequest.properties;

export const Base64File = (description: string) =>
  Type.Object(
    {
      base64: Type.String({
        minLength: 1,
        contentEncoding: 'base64',
        description: 'The file, as standard base64 (RFC 4648, section 4, with padding).',
      }),
    },
    { additionalProperties: false, description },
  );

/** The same request as JSON with files as base64: a third larger than a form and fully in memory, so forms are better for large images. */
export const AssessJsonRequest = Type.Object(
  {
    image: Base64File('The image to assess.'),
    reference: Type.Optional(Base64File('The pristine original, of the same size, for full-reference tools.')),
    ...plainFields,
  },
  {
    additionalProperties: false,
    description: 'A question about the quality of an image, files as base64.',
    examples: [
      { image: { base64: EXAMPLE_IMAGE }, query: DEFAULT_QUERY },
      {
        image: { base64: EXAMPLE_IMAGE },
        reference: { base64: EXAMPLE_IMAGE },
        query: 'Which flaw is worst?',
        choices: ['Noise', 'Blur'],
        max_replan_iterations: 1,
      },
    ],
  },
);
export type AssessJsonRequest = Static<typeof AssessJsonRequest>;
