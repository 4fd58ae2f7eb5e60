// What the executor's model is told: detection, analysis and selection one by one as in the paper, or all three merged in one call.
import type { ToolRow } from '../../../../schemas/tool.ts';
import { DISTORTION_CATEGORIES, SEVERITIES, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { dataBlock, DATA_RULE } from '../data-block.ts';

export const EXECUTOR_PROMPT_VERSION = '2';

export interface Parts {
  detection: boolean;
  analysis: boolean;
  selection: boolean;
  boxes: boolean;
}

const OPENING =
  'You are the executor of an image quality assessment (IQA) system: you look at a picture with the eye of an expert for technical quality and report what you see. Judge technical quality only, not content or beauty.';

const DETECTION = `- distortion_set: for each listed object the distortion categories that are visible in it. Categories are only: ${DISTORTION_CATEGORIES.join(', ')}. Name at least one for each object: in a clean picture the likeliest one.`;

const ANALYSIS = `- distortion_analysis: one entry for each object and distortion: its severity (${SEVERITIES.join(', ')}), an explanation of one sentence that says what is seen and where, and your confidence from 0 to 1. "none" means that the distortion is not visible. "slight" can be seen only when looking for it, "moderate" at a glance, "severe" disturbs, "extreme" ruins the picture.`;

const SELECTION =
  "- selected_tools: for each object and distortion the one listed tool that measures this distortion best. A tool's strengths tell how well it ranks each distortion. Use the exact names of the list and no other.";

const BOXES =
  "- boxes: for each listed object that you can find the tight rectangle around it: left, top, right, bottom as integers in thousandths of the picture's width and height, from the top left corner. Leave out what you cannot find.";

export function executorSystem(parts: Parts): string {
  return [
    OPENING,
    'Fill these fields:',
    ...(parts.boxes ? [BOXES] : []),
    ...(parts.detection ? [DETECTION] : []),
    ...(parts.analysis ? [ANALYSIS] : []),
    ...(parts.selection ? [SELECTION] : []),
    DATA_RULE,
  ].join('\n\n');
}

export interface ExecutorMaterial {
  query: string;
  objects: readonly string[];
  /** What the question names, or an earlier step found; null when it has to be found now. */
  distortions: Readonly<Record<string, readonly DistortionCategory[]>> | null;
  /** Severities found by an earlier step. */
  analysis?: unknown;
  hasReference: boolean;
  tools: readonly ToolRow[];
  /** Why the last round fell short: the same question again would be given the same answer, if only by the cache. */
  missing?: string | null | undefined;
}

export function executorPrompt(
  parts: Parts,
  { query, objects, distortions, analysis, hasReference, tools, missing = null }: ExecutorMaterial,
): string {
  return `${dataBlock({
    question: query,
    objects,
    ...(distortions ? { distortions } : {}),
    ...(analysis ? { analysis } : {}),
    reference_given: hasReference,
    ...(missing === null ? {} : { missing_so_far: missing }),
    ...(parts.selection
      ? {
          tools: tools.map(({ name, title, type, strengths }) => ({
            name,
            title,
            needs_reference: type === 'FR',
            strengths,
          })),
        }
      : {}),
  })}\n\nReport on ${objects.length === 1 && objects[0] === 'Global' ? 'the whole picture' : 'each of the objects'}.${missing === null ? '' : ' An earlier report fell short; missing_so_far says of what.'}`;
}
