// What the executor's model may say: only objects, distortions and tools of the lists that it was given; its boxes are cut to the picture.
import Type, { type Static, type TSchema } from 'typebox';
import { explain } from '../../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../../schemas/validation/model.ts';
import {
  DISTORTION_CATEGORIES,
  DistortionCategory,
  GLOBAL,
  NonBlank,
  OrNull,
  SEVERITIES,
  Severity,
} from '../../../../schemas/vocabulary.ts';
import type { ToolRegistry } from '../../../tools/registry.ts';
import type { Parts } from './prompts.ts';
import {
  asEntries,
  canonical,
  canonicalTool,
  CATEGORY_SYNONYMS,
  isRecord,
  mapRecords,
  SEVERITY_SYNONYMS,
  type Repaired,
} from '../normalize-reply.ts';

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

/** All categories of more objects than anybody asks about. */
const MAX_ENTRIES = 500;

export interface ClosedLists {
  objects: readonly string[];
  /** Names of the tools that may be chosen. */
  tools: readonly string[];
}

/** The schema with the lists of this very call in it: a model that keeps to it cannot name anything else. */
export function examinationSchema(parts: Parts, { objects, tools }: ClosedLists): TSchema {
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
  repaired: Repaired,
): ExaminationReply {
  const draft = mend(value, lists, registry, repaired);
  const issues = explain(schema, draft);
  if (issues.length > 0) throw new ValidationError('executor answer', issues);
  return draft;
}

function mend(
  value: Record<string, unknown>,
  { objects, tools }: ClosedLists,
  registry: ToolRegistry,
  repaired: Repaired,
): Record<string, unknown> {
  const allowed = [...objects, GLOBAL];
  const object = (word: unknown) => canonical(word, allowed, WHOLE, repaired);
  const category = (word: unknown) => canonical(word, DISTORTION_CATEGORIES, CATEGORY_SYNONYMS, repaired);
  const tool = (word: unknown) => canonicalTool(word, tools, registry, repaired);
  const lists: Record<string, (given: unknown) => unknown> = {
    distortion_set: (given) =>
      mapRecords(
        asEntries(given, 'distortion_set', (name, distortions) => [{ object: name, distortions }], repaired),
        (entry) => ({
          ...entry,
          object: object(entry['object']),
          distortions: Array.isArray(entry['distortions']) ? entry['distortions'].map(category) : entry['distortions'],
        }),
      ),
    distortion_analysis: (given) =>
      mapRecords(
        asEntries(
          given,
          'distortion_analysis',
          (name, items) =>
            (Array.isArray(items) ? items : [items]).map((item: unknown) =>
              isRecord(item) ? { ...item, object: name } : item,
            ),
          repaired,
        ),
        (entry) => ({
          ...entry,
          object: object(entry['object']),
          type: category(entry['type']),
          severity: canonical(entry['severity'], SEVERITIES, SEVERITY_SYNONYMS, repaired),
        }),
      ),
    selected_tools: (given) =>
      mapRecords(
        asEntries(
          given,
          'selected_tools',
          (name, chosen) =>
            Object.entries(isRecord(chosen) ? chosen : {}).map(([distortion, named]) => ({
              object: name,
              distortion,
              tool: named,
            })),
          repaired,
        ),
        (entry) => ({
          ...entry,
          object: object(entry['object']),
          distortion: category(entry['distortion']),
          tool: tool(entry['tool']),
        }),
      ),
    boxes: (given) => mapRecords(given, (entry) => ({ ...entry, object: object(entry['object']) })),
  };
  return Object.fromEntries(
    Object.entries(value).map(([field, given]) => [field, Object.hasOwn(lists, field) ? lists[field]?.(given) : given]),
  );
}

const WHOLE: Record<string, string> = {
  image: GLOBAL,
  'whole image': GLOBAL,
  picture: GLOBAL,
  'whole picture': GLOBAL,
  overall: GLOBAL,
};

const SMALLEST_SIDE = 16;
type Corners = Omit<Static<typeof Boxed>, 'object'>;

/** From thousandths to whole pixels inside the picture; null where nothing worth measuring is left. */
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
  return box[2] >= SMALLEST_SIDE && box[3] >= SMALLEST_SIDE ? box : null;
}
