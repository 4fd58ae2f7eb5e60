// From what the executor's model calls things to what the evidence calls them. What it says beside the question is left out.
import type { Finding } from '../../../../schemas/responses/assessment.ts';
import { GLOBAL, SEVERITIES, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { getOwn } from '../../../lib/get-own.ts';
import type { Examination, ExamineRequest } from '../../reasoner.ts';
import { clampBox, type ExaminationReply } from './reply.ts';
import type { Parts } from './prompts.ts';

export type DistortionSet = Record<string, DistortionCategory[]>;

export interface Material {
  reply: ExaminationReply;
  wanted: Parts;
  /** What the question names, by the objects that the model was asked about. */
  named: DistortionSet | null;
  request: ExamineRequest;
  /** Of the picture, in pixels. */
  size: { width: number; height: number };
}

export function assemble({ reply, wanted, named, request, size }: Material): Examination {
  const grounded = groundedRegions(reply, request, size);
  const keys = new Set([...request.regions.filter(({ box }) => box !== null), ...grounded].map(({ name }) => name));
  const keyOf = (object: string): string => (keys.has(object) ? object : GLOBAL);
  const detected = wanted.detection ? setOf(reply.distortion_set ?? [], keyOf) : null;
  const set =
    detected ??
    setOf(
      Object.entries(named ?? {}).map(([object, distortions]) => ({ object, distortions })),
      keyOf,
    );
  const isAsked = (object: string, distortion: DistortionCategory): boolean =>
    getOwn(set, keyOf(object))?.includes(distortion) ?? false;
  const analysed = (reply.distortion_analysis ?? []).filter(({ object, type }) => isAsked(object, type));
  const selected = (reply.selected_tools ?? []).filter(({ object, distortion }) => isAsked(object, distortion));
  const analysisOf = ({ type, severity, explanation }: (typeof analysed)[number]) => ({ type, severity, explanation });
  return {
    distortion_set: detected,
    distortion_analysis: wanted.analysis ? groupBy(analysed, ({ object }) => keyOf(object), analysisOf) : null,
    selected_tools: wanted.selection ? toolsByObject(selected, keyOf) : null,
    findings: analysed
      .map(({ object, type, severity, confidence }): Finding => ({
        strength: null,
        sides: {},
        place: null,
        object_name: keyOf(object),
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

/** Boxes of the objects that had none, cut to the picture; of several for one object the first. */
function groundedRegions(
  { boxes = [] }: ExaminationReply,
  { ungrounded }: ExamineRequest,
  size: Material['size'],
): Examination['grounded'] {
  return ungrounded.flatMap((name) => {
    const found = boxes.find(({ object }) => object === name);
    const box = found ? clampBox(found, size) : null;
    return box ? [{ name, box }] : [];
  });
}

type Detected = readonly { object: string; distortions: readonly DistortionCategory[] }[];

export function setOf(entries: Detected, keyOf: (object: string) => string): DistortionSet {
  const merged = new Map<string, Set<DistortionCategory>>();
  for (const { object, distortions } of entries)
    merged.set(keyOf(object), new Set([...(merged.get(keyOf(object)) ?? []), ...distortions]));
  return Object.fromEntries(
    [...merged].filter(([, categories]) => categories.size > 0).map(([key, categories]) => [key, [...categories]]),
  );
}

function groupBy<T, V>(items: readonly T[], keyOf: (item: T) => string, valueOf: (item: T) => V): Record<string, V[]> {
  const groups = new Map<string, V[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), valueOf(item)]);
  return Object.fromEntries(groups);
}

type Selected = NonNullable<ExaminationReply['selected_tools']>;

function toolsByObject(selected: Selected, keyOf: (object: string) => string): Record<string, Record<string, string>> {
  const groups = groupBy(
    selected,
    ({ object }) => keyOf(object),
    ({ distortion, tool }) => [distortion, tool] as const,
  );
  return Object.fromEntries(Object.entries(groups).map(([object, pairs]) => [object, Object.fromEntries(pairs)]));
}
