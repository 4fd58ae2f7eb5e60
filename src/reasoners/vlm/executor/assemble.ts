// Converts the executor's replies to an examination under the names of the evidence. What was not asked about is dropped.
import type { Finding } from '../../../../schemas/responses/assessment.ts';
import { GLOBAL, SEVERITIES, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { getOwn } from '../../../lib/get-own.ts';
import { mergeDistortions } from '../../../pipeline/rules/scope.ts';
import type { Examination, ExamineRequest } from '../../reasoner.ts';
import { clampBox, type ExaminationReply } from './reply.ts';
import type { ReplyParts } from './prompts.ts';

export type DistortionSet = Record<string, DistortionCategory[]>;

interface AssemblyInput {
  reply: ExaminationReply;
  wanted: ReplyParts;
  /** The distortions that the question names, by the objects that the model was asked about. */
  named: DistortionSet | null;
  request: ExamineRequest;
  /** Of the image, in pixels. */
  size: { width: number; height: number };
}

export function assembleExamination({ reply, wanted, named, request, size }: AssemblyInput): Examination {
  const grounded = listGrounded(reply, request, size);
  const regions = new Set([...request.regions.filter(({ box }) => box !== null), ...grounded].map(({ name }) => name));
  const toRegion = (object: string): string => (regions.has(object) ? object : GLOBAL);
  const detected = wanted.detection
    ? mergeDistortions(
        (reply.distortion_set ?? []).map(({ object, distortions }) => [object, distortions]),
        toRegion,
      )
    : null;
  const set = detected ?? mergeDistortions(Object.entries(named ?? {}), toRegion);
  const isAsked = (object: string, distortion: DistortionCategory): boolean =>
    getOwn(set, toRegion(object))?.includes(distortion) ?? false;
  const analysed = (reply.distortion_analysis ?? []).filter(({ object, type }) => isAsked(object, type));
  const selected = (reply.selected_tools ?? []).filter(({ object, distortion }) => isAsked(object, distortion));
  const toAnalysis = ({ type, severity, explanation }: (typeof analysed)[number]) => ({ type, severity, explanation });
  return {
    distortion_set: detected,
    distortion_analysis: wanted.analysis ? groupBy(analysed, ({ object }) => toRegion(object), toAnalysis) : null,
    selected_tools: wanted.selection ? toolsByRegion(selected, toRegion) : null,
    findings: analysed
      .map(({ object, type, severity, confidence }): Finding => ({
        strength: null,
        variants: {},
        place: null,
        object_name: toRegion(object),
        distortion: type,
        severity,
        confidence: confidence ?? null,
        measurements: {},
      }))
      .toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity)),
    grounded,
    failures: [],
  };
}

/** Boxes of the objects that had none, clamped to the image; the first one of several for an object. */
function listGrounded(
  { boxes = [] }: ExaminationReply,
  { ungrounded }: ExamineRequest,
  size: AssemblyInput['size'],
): Examination['grounded'] {
  return ungrounded.flatMap((name) => {
    const found = boxes.find(({ object }) => object === name);
    const box = found ? clampBox(found, size) : null;
    return box ? [{ name, box }] : [];
  });
}

function groupBy<T, V>(
  items: readonly T[],
  getKey: (item: T) => string,
  getValue: (item: T) => V,
): Record<string, V[]> {
  const groups = new Map<string, V[]>();
  for (const item of items) groups.set(getKey(item), [...(groups.get(getKey(item)) ?? []), getValue(item)]);
  return Object.fromEntries(groups);
}

type Selected = NonNullable<ExaminationReply['selected_tools']>;

function toolsByRegion(
  selected: Selected,
  toRegion: (object: string) => string,
): Record<string, Record<string, string>> {
  const groups = groupBy(
    selected,
    ({ object }) => toRegion(object),
    ({ distortion, tool }) => [distortion, tool] as const,
  );
  return Object.fromEntries(Object.entries(groups).map(([object, pairs]) => [object, Object.fromEntries(pairs)]));
}
