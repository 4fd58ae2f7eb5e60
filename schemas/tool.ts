// A tool as a row of the registry (configs/tools.yaml) and as the API shows it.
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
        'Standard deviation of human ratings around the score, where the score is 1, 2, 3, 4 and 5, on pictures not fitted on; null where it was never measured.',
    }),
    origin: NonBlank('What the parameters were fitted on, and under which terms.'),
    version: NonBlank('Changes whenever the parameters do.'),
  },
  { additionalProperties: false, description: "How the tool's own value becomes a score from 1 to 5." },
);
export type Calibration = Static<typeof Calibration>;

const Origin = Type.Object(
  {
    licence: NonBlank('SPDX identifier.'),
    source: NonBlank('Where it comes from: a paper, our own code, our own fit.'),
  },
  { additionalProperties: false, description: 'Where something comes from, and under which terms.' },
);

export const ToolRow = defineModel(
  'ToolRow',
  Type.Object(
    {
      name: NonBlank('Registry name, as people write it.'),
      aliases: Type.Array(NonBlank('Another spelling.'), { description: 'Other spellings that a query may use.' }),
      title: NonBlank('What the name stands for.'),
      type: Type.Enum(['FR', 'NR'], { description: 'FR: compares with a reference. NR: needs none.' }),
      direction: Type.Enum(['higher', 'lower'], { description: 'Which end of the range is good.' }),
      range: Type.Array(Type.Number(), {
        minItems: 2,
        maxItems: 2,
        description: 'Lowest and highest value of the tool.',
      }),
      strengths: ByCategory(
        Type.Number({ minimum: 0, maximum: 1 }),
        'How well it ranks strengths of each distortion: rank correlation on the data named in strengths_origin.',
      ),
      strengths_origin: NonBlank('What the strengths were measured on.'),
      precedence: Type.Integer({
        minimum: 0,
        default: 0,
        description:
          'Higher is chosen first, whatever the strengths: for learned fusions, which agree with people better than any single tool.',
      }),
      on_request: Type.Boolean({
        default: false,
        description: 'Run only when a question names it: too slow, or not well enough measured, to be chosen.',
      }),
      tier: Type.Enum(['base', 'pyiqa'], {
        default: 'base',
        description: 'Which sidecar runs it: the one that is always there, or the optional one with pyiqa.',
      }),
      cost_ms_per_megapixel: OrNull(
        Type.Number({ minimum: 0 }),
        'CPU time on one core, or null where it was never measured.',
      ),
      min_side: Type.Integer({ minimum: 1, description: 'Smallest width and height in pixels.' }),
      version: NonBlank('Version of the implementation; part of every cache key.'),
      code: Origin,
      parameters: OrNull(Origin, 'Fitted figures or weights that it carries, or null.'),
      calibration: Calibration,
    },
    { additionalProperties: false, description: 'One IQA tool.' },
  ),
);
export type ToolRow = Static<typeof ToolRow>;

export const ToolRegistryFile = defineModel(
  'ToolRegistryFile',
  Type.Object(
    { tools: Type.Array(ToolRow, { minItems: 1, description: 'One row a tool.' }) },
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
    { additionalProperties: false, description: 'One IQA tool and whether it can be run now.' },
  ),
  { publish: 'output' },
);
export type ToolInfo = Static<typeof ToolInfo>;

export const ToolList = Type.Object(
  { tools: Type.Array(ToolInfo, { description: 'In the order of the registry.' }) },
  { additionalProperties: false },
);
