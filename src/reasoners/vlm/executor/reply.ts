// Schema and validation of the executor's replies: only listed objects, distortions and tools; boxes are clamped to the image.
import Type, { type Static, type TSchema } from 'typebox';
import { explain } from '../../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../../schemas/validation/model.ts';
import { DistortionCategory, GLOBAL, NonBlank, OrNull, Severity } from '../../../../schemas/vocabulary.ts';
import type { ToolRegistry } from '../../../tools/registry.ts';
import type { ReplyParts } from './prompts.ts';
import type { OnRepair } from '../normalize-reply.ts';
import { normalizeExamination, type ClosedLists } from './normalize.ts';

const Detected = Type.Object({ object: Type.String(), distortions: Type.Array(DistortionCategory) });
const Analysed = Type.Object({
  object: Type.String(),
  type: DistortionCategory,
  severity: Severity,
  explanation: NonBlank('What is seen and where, in one sentence.', { maxLength: 4_000 }),
  confidence: Type.Optional(OrNull(Type.Number({ minimum: 0, maximum: 1 }), 'From 0 to 1.')),
});
const Selected = Type.Object({ object: Type.String(), distortion: DistortionCategory, tool: Type.String() });
const Thousandths = Type.Number();
const Boxed = Type.Object({
  object: Type.String(),
  left: Thousandths,
  top: Thousandths,
  right: Thousandths,
  bottom: Thousandths,
});

export interface ExaminationReply {
  distortion_set?: Static<typeof Detected>[];
  distortion_analysis?: Static<typeof Analysed>[];
  selected_tools?: Static<typeof Selected>[];
  boxes?: Static<typeof Boxed>[];
}

/** More than all categories of all objects that a plan may have. */
const MAX_ENTRIES = 500;

/** The schema contains the lists of this call, so that a model that follows it cannot name anything else. */
export function examinationSchema(parts: ReplyParts, { objects, tools }: ClosedLists): TSchema {
  const object = Type.Enum([...new Set([...objects, GLOBAL])], { description: 'A listed object.' });
  const list = (
    item: { properties: Record<string, TSchema> },
    closed: Record<string, TSchema>,
    minItems: number,
    description: string,
  ) => Type.Array(Type.Object({ ...item.properties, ...closed }), { minItems, maxItems: MAX_ENTRIES, description });
  return Type.Object({
    ...(parts.boxes ? { boxes: Type.Optional(list(Boxed, { object }, 0, 'Where the objects are.')) } : {}),
    ...(parts.detection
      ? {
          distortion_set: list(
            Detected,
            { object, distortions: Type.Array(DistortionCategory, { minItems: 1 }) },
            1,
            'Distortions by object.',
          ),
        }
      : {}),
    ...(parts.analysis ? { distortion_analysis: list(Analysed, { object }, 1, 'Severity of each distortion.') } : {}),
    ...(parts.selection
      ? {
          selected_tools: list(
            Selected,
            { object, tool: Type.Enum([...tools], { description: 'A listed tool.' }) },
            1,
            'A tool for each distortion.',
          ),
        }
      : {}),
  });
}

export function readExamination(
  value: Record<string, unknown>,
  schema: TSchema,
  lists: ClosedLists,
  registry: ToolRegistry,
  onRepair: OnRepair,
): ExaminationReply {
  const draft = normalizeExamination(value, lists, registry, onRepair);
  const issues = explain(schema, draft);
  if (issues.length > 0) throw new ValidationError('executor answer', issues);
  return draft;
}

const MIN_SIDE_PX = 16;
type Corners = Omit<Static<typeof Boxed>, 'object'>;

/** Converts thousandths to whole pixels inside the image; null when the box is too small to be measured. */
export function clampBox(
  { left, top, right, bottom }: Corners,
  { width, height }: { width: number; height: number },
): [number, number, number, number] | null {
  const clamp = (value: number, size: number) => Math.min(size, Math.max(0, Math.round((value / 1000) * size)));
  const [x, y] = [clamp(Math.min(left, right), width), clamp(Math.min(top, bottom), height)];
  const box: [number, number, number, number] = [
    x,
    y,
    clamp(Math.max(left, right), width) - x,
    clamp(Math.max(top, bottom), height) - y,
  ];
  return box[2] >= MIN_SIDE_PX && box[3] >= MIN_SIDE_PX ? box : null;
}
