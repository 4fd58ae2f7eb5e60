// A tool: a row of the registry (configs/tools.yaml), and the same with its availability for the API.
import Type, { type Static } from 'typebox';
import { defineModel } from './validation/model.ts';
import { ByCategory, NonBlank, OrNull } from './vocabulary.ts';

const Calibration = Type.Object(
  {
    beta: Type.Array(Type.Number(), {
      minItems: 5,
      maxItems: 5,
      description: 'β1…β5 of f(x) = β1(½ − 1/(1 + e^{β2(x − β3)})) + β4·x + β5, clipped to [1, 5].',
    }),
    spread: Type.Union([Type.Array(Type.Number({ exclusiveMinimum: 0 }), { minItems: 5, maxItems: 5 }), Type.Null()], {
      default: null,
      description:
        'Standard deviation of human ratings around scores of 1, 2, 3, 4 and 5, on held-out images; null if it was never measured.',
    }),
    origin: NonBlank('Data that the parameters were fitted on, and its terms of use.'),
    version: NonBlank('Changes whenever the parameters change.'),
  },
  { additionalProperties: false, description: "Maps the tool's raw value to a score from 1 to 5." },
);
export type Calibration = Static<typeof Calibration>;

const Origin = Type.Object(
  { licence: NonBlank('SPDX identifier.'), source: NonBlank('Source: a paper, own code, or an own fit.') },
  { additionalProperties: false, description: 'Source and licence.' },
);

export const ToolRow = defineModel(
  'ToolRow',
  Type.Object(
    {
      name: NonBlank('Registry name.'),
      aliases: Type.Array(NonBlank('An alternative name.'), { description: 'Alternative names that a query may use.' }),
      title: NonBlank('Full name.'),
      type: Type.Enum(['FR', 'NR'], { description: 'FR: full-reference. NR: no-reference.' }),
      direction: Type.Enum(['higher', 'lower'], { description: 'Which end of the range is good.' }),
      range: Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: 'Lowest and highest raw value.' }),
      strengths: ByCategory(
        Type.Number({ minimum: 0, maximum: 1 }),
        'How well it ranks the strength of each distortion: rank correlation on the data named in strengths_origin.',
      ),
      strengths_origin: NonBlank('Data that the strengths were measured on.'),
      precedence: Type.Integer({
        minimum: 0,
        default: 0,
        description:
          'Tools with a higher value are chosen first, regardless of strengths. Set for learned fusions, which agree with human ratings better than any single tool.',
      }),
      on_request: Type.Boolean({
        default: false,
        description: 'Run only if a query names it: too slow, or not measured well enough, to be chosen.',
      }),
      tier: Type.Enum(['base', 'pyiqa'], {
        default: 'base',
        description: 'The sidecar that runs it: the base sidecar, or the optional one with pyiqa.',
      }),
      cost_ms_per_megapixel: OrNull(
        Type.Number({ minimum: 0 }),
        'CPU time on one core; null if it was never measured.',
      ),
      min_side: Type.Integer({ minimum: 1, description: 'Smallest width and height in pixels.' }),
      version: NonBlank('Version of the implementation; part of every cache key.'),
      code: Origin,
      parameters: OrNull(Origin, 'Fitted parameters or network weights that it uses, or null.'),
      calibration: Calibration,
    },
    { additionalProperties: false, description: 'One IQA tool.' },
  ),
);
export type ToolRow = Static<typeof ToolRow>;

export const ToolRegistryFile = defineModel(
  'ToolRegistryFile',
  Type.Object(
    {
      origins: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'Anchors for repeated origins.' }),
      ),
      tools: Type.Array(ToolRow, { minItems: 1, description: 'One row per tool.' }),
    },
    { additionalProperties: false },
  ),
);

export const ToolInfo = defineModel(
  'ToolInfo',
  Type.Object(
    {
      ...ToolRow.properties,
      available: Type.Boolean({ description: 'Whether the sidecar can run it now.' }),
      reason: OrNull(Type.String(), 'Why it is not available, or null.'),
    },
    { additionalProperties: false, description: 'One IQA tool and its availability.' },
  ),
  { publish: 'output' },
);
export type ToolInfo = Static<typeof ToolInfo>;

export const ToolList = Type.Object(
  { tools: Type.Array(ToolInfo, { description: 'In registry order.' }) },
  { additionalProperties: false },
);
