// The wire contract with the Python sidecar, version 1; docs/sidecar-contract.md describes it.
import Type, { type Static } from 'typebox';
import { defineModel } from './validation/model.ts';
import { OrNull } from './vocabulary.ts';

export const CONTRACT_VERSION = 1;
export const MEASURE_MEDIA_TYPE = 'application/vnd.agentic-iqa.measure';

/** Draft 2020-12 describes a tuple with prefixItems, which Type.Tuple does not emit. */
export const Box = Type.Unsafe<number[]>({
  type: 'array',
  prefixItems: [0, 0, 1, 1].map((minimum) => ({ type: 'integer', minimum })),
  items: false,
  minItems: 4,
  maxItems: 4,
  description: '[x, y, width, height] in pixels.',
});

export const MeasureHeader = defineModel(
  'MeasureHeader',
  Type.Object(
    {
      contract: Type.Literal(CONTRACT_VERSION),
      request_id: OrNull(Type.String(), 'Included in the sidecar logs.'),
      image_bytes: Type.Integer({ minimum: 1 }),
      reference_bytes: Type.Integer({ minimum: 0 }),
      // "Global" is the whole image and cannot be given a box.
      regions: Type.Record(Type.String({ pattern: '^(?!Global$)' }), Box, {
        additionalProperties: false,
        maxProperties: 32,
      }),
      measurements: Type.Array(Type.String(), { uniqueItems: true }),
      tools: Type.Array(
        Type.Object(
          {
            name: Type.String(),
            region: Type.String(),
            map: Type.Boolean({ description: 'Whether to return the local map as an image.' }),
            grid: Type.Optional(Type.Boolean({ description: 'Whether to return the local map as a 3 × 3 grid.' })),
          },
          { additionalProperties: false },
        ),
        { maxItems: 256 },
      ),
      jpeg_quality: OrNull(Type.Integer({ minimum: 1, maximum: 100 }), 'Set by the service if it re-encoded the file.'),
      tool_timeout_ms: Type.Integer({ minimum: 100, maximum: 600_000 }),
    },
    { additionalProperties: false },
  ),
);
export type MeasureHeader = Static<typeof MeasureHeader>;

const SidecarError = Type.Object({ code: Type.String(), message: Type.String() });

export const SidecarFailure = defineModel('SidecarFailure', Type.Object({ error: SidecarError }));

const LocalMap = Type.Object({
  media_type: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  base64: Type.String(),
});

const Grid = Type.Array(Type.Number({ minimum: 0, maximum: 1 }), { minItems: 9, maxItems: 9 });

const Values = Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]));

const ImageEvent = Type.Object({
  event: Type.Literal('image'),
  contract: Type.Literal(CONTRACT_VERSION),
  width: Type.Integer(),
  height: Type.Integer(),
  channels: Type.Integer(),
  queue_ms: Type.Number(),
  decode_ms: Type.Number(),
});
const MeasurementsEvent = Type.Object({
  event: Type.Literal('measurements'),
  region: Type.String(),
  values: Values,
  reference_values: OrNull(Values, 'The same measurements of the reference.'),
  version: Type.String(),
  time_ms: Type.Number(),
  elapsed_ms: Type.Number(),
  error: OrNull(SidecarError, ''),
});
const ToolEvent = Type.Object({
  event: Type.Literal('tool'),
  tool: Type.String(),
  region: Type.String(),
  value: OrNull(Type.Number(), ''),
  version: Type.String(),
  time_ms: Type.Number(),
  elapsed_ms: Type.Number(),
  map: OrNull(LocalMap, ''),
  grid: OrNull(Grid, 'How bad each ninth is, row by row from the upper left: 0 (perfect) to 1 (worst).'),
  error: OrNull(SidecarError, ''),
});
const EndEvent = Type.Object({ event: Type.Literal('end'), time_ms: Type.Number() });
const ErrorEvent = Type.Object({ event: Type.Literal('error'), error: SidecarError });

export const MeasureEvent = defineModel(
  'MeasureEvent',
  Type.Union([ImageEvent, MeasurementsEvent, ToolEvent, EndEvent, ErrorEvent]),
);
export type MeasureEvent = Static<typeof MeasureEvent>;
export type MeasurementsEvent = Static<typeof MeasurementsEvent>;
export type ToolEvent = Static<typeof ToolEvent>;

export const SidecarTools = defineModel(
  'SidecarTools',
  Type.Object({
    contract: Type.Literal(CONTRACT_VERSION),
    engine: Type.String({ description: 'Version of the sidecar.' }),
    tools: Type.Array(
      Type.Object({
        name: Type.String(),
        version: Type.String(),
        needs_reference: Type.Boolean(),
        min_side: Type.Integer(),
        has_map: Type.Boolean(),
        available: Type.Boolean(),
        reason: OrNull(Type.String(), 'Why it cannot be run.'),
      }),
    ),
    measurements: Type.Object({
      version: Type.String(),
      catalogue: Type.Array(
        Type.Object({
          name: Type.String(),
          unit: Type.String(),
          minimum: OrNull(Type.Number(), ''),
          maximum: OrNull(Type.Number(), ''),
          description: Type.String(),
        }),
      ),
    }),
    limits: Type.Object({
      max_bytes: Type.Integer(),
      max_pixels: Type.Integer(),
      max_regions: Type.Integer(),
      max_tools: Type.Integer(),
    }),
  }),
);
export type SidecarTools = Static<typeof SidecarTools>;

export const SidecarHealth = defineModel(
  'SidecarHealth',
  Type.Object({
    status: Type.Literal('ok'),
    contract: Type.Literal(CONTRACT_VERSION),
    workers: Type.Object({ total: Type.Integer(), busy: Type.Integer() }),
    queue: Type.Object({ waiting: Type.Integer(), limit: Type.Integer() }),
  }),
);
