// The door: what POST /assess takes. Files are handles by the time this schema sees them (see src/uploads/assess-form.ts).
import Type, { type Static } from 'typebox';
import { EXAMPLE_PICTURE } from './example-image.ts';
import { Box } from '../sidecar.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../pipeline/state.ts';
import { NonBlank } from '../vocabulary.ts';

export const DEFAULT_QUERY = 'How is the overall quality of this image?';
export const MAX_REPLAN_LIMIT = 10;

export const File = (description: string) => Type.String({ format: 'binary', description });

/** What Swagger UI fills a field with: something that works as it stands. */
export const example = <T>(value: T) => ({ examples: [value] });

export const Region = Type.Object(
  { name: NonBlank('Name of the object, as the query calls it.', { maxLength: 100 }), box: Box },
  { additionalProperties: false, description: 'Where an object is.' },
);
export type Region = Static<typeof Region>;

/** Any version of UUID. An unguessable one is in the client's own interest: whoever knows an id can fetch its answer. */
export const AssessmentId = (description: string) =>
  Type.String({
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    description,
    ...example('6b1f4f5e-0c55-4c3f-9d0a-3f6f0c1f7a11'),
  });

export const AssessRequest = Type.Object(
  {
    image: File('The image to assess.'),
    reference: Type.Optional(File('The pristine original of the same size, for full-reference tools.')),
    query: Type.Optional(NonBlank('The question about the image.', { maxLength: 20_000, ...example(DEFAULT_QUERY) })),
    max_replan_iterations: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_REPLAN_LIMIT,
        default: DEFAULT_MAX_REPLAN_ITERATIONS,
        description: 'Limit of the replanning loop. A limit of N allows N − 1 replans: 0 and 1 allow none.',
      }),
    ),
    choices: Type.Optional(
      Type.Array(NonBlank('An answer option.', { maxLength: 1_000 }), {
        minItems: 2,
        maxItems: 26,
        description: 'Answer options, besides those found in the query: the field repeated, or once as a JSON array.',
        ...example([]),
      }),
    ),
    regions: Type.Optional(
      Type.Array(Region, {
        maxItems: 16,
        description: 'Boxes of objects (a JSON array), in pixels of the upright image.',
        ...example([]),
      }),
    ),
    prior_context: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'What earlier turns established (a JSON object).',
        ...example({}),
      }),
    ),
    align: Type.Optional(
      Type.Enum(['none', 'resize'], {
        type: 'string',
        default: 'none',
        description: 'What to do with a reference of another size: refuse it, or resize it.',
      }),
    ),
    backend: Type.Optional(
      NonBlank('Who reasons: "auto" or the name of a configured back end.', { maxLength: 100, ...example('auto') }),
    ),
    maps: Type.Optional(
      Type.Array(NonBlank('Name of a tool.', { maxLength: 100 }), {
        maxItems: 8,
        description:
          'Tools whose local maps (where in the picture they find what) are wanted, or "blur", "noise" and "blockiness", which need no reference: the field repeated, or once as a JSON array.',
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

/** The same question as JSON: files travel as base64. A third larger than a form and whole in memory, so forms are better for large pictures. */
export const AssessJsonRequest = Type.Object(
  {
    image: Base64File('The image to assess.'),
    reference: Type.Optional(Base64File('The pristine original of the same size, for full-reference tools.')),
    ...plainFields,
  },
  {
    additionalProperties: false,
    description: 'A question about the quality of an image, files as base64.',
    examples: [
      { image: { base64: EXAMPLE_PICTURE }, query: DEFAULT_QUERY },
      {
        image: { base64: EXAMPLE_PICTURE },
        reference: { base64: EXAMPLE_PICTURE },
        query: 'Which flaw is worst?',
        choices: ['Noise', 'Blur'],
        max_replan_iterations: 1,
      },
    ],
  },
);
export type AssessJsonRequest = Static<typeof AssessJsonRequest>;
