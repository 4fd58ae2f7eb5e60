// The executor's prompts: detection, analysis and selection one by one as in the paper, or merged in one call.
import type { ToolRow } from '../../../../schemas/tool.ts';
import { DISTORTION_CATEGORIES, SEVERITIES, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { formatDataBlock, DATA_RULE } from '../data-block.ts';

export const EXECUTOR_PROMPT_VERSION = '3';

export interface ReplyParts {
  detection: boolean;
  analysis: boolean;
  selection: boolean;
  boxes: boolean;
}

const INTRODUCTION =
  'You are the executor of an image quality assessment (IQA) system: you inspect an image like an expert for technical quality and report what you see. Judge technical quality only, not content or beauty.';

const DETECTION = `- distortion_set: for each listed object the distortion categories that are visible in it. Categories are only: ${DISTORTION_CATEGORIES.join(', ')}. Name at least one for each object: in a clean image the likeliest one.`;

const ANALYSIS = `- distortion_analysis: one entry for each object and distortion: its severity (${SEVERITIES.join(', ')}), an explanation of one sentence that says what is seen and where, and your confidence from 0 to 1. "none" means that the distortion is not visible. "slight" can be seen only when looking for it, "moderate" at a glance, "severe" disturbs, "extreme" ruins the image.`;

const SELECTION =
  "- selected_tools: for each object and distortion the one listed tool that measures this distortion best. A tool's strengths say how well it ranks each distortion. Use the exact names of the list and no other.";

const BOXES =
  "- boxes: for each listed object that you can find the tight rectangle around it: left, top, right, bottom as integers in thousandths of the image's width and height, from the top left corner. Leave out what you cannot find.";

export function executorSystem(parts: ReplyParts): string {
  return [
    INTRODUCTION,
    'Fill these fields:',
    ...(parts.boxes ? [BOXES] : []),
    ...(parts.detection ? [DETECTION] : []),
    ...(parts.analysis ? [ANALYSIS] : []),
    ...(parts.selection ? [SELECTION] : []),
    DATA_RULE,
  ].join('\n\n');
}

export interface ExecutorPromptInput {
  query: string;
  objects: readonly string[];
  /** Named by the question or detected by an earlier step; null when they have to be detected. */
  distortions: Readonly<Record<string, readonly DistortionCategory[]>> | null;
  /** The result of an earlier step. */
  analysis?: unknown;
  hasReference: boolean;
  tools: readonly ToolRow[];
  /** Why the last round was insufficient. Without it the same prompt would get the same answer from the cache. */
  replanReason?: string | null;
}

export function executorPrompt(
  parts: ReplyParts,
  { query, objects, distortions, analysis, hasReference, tools, replanReason = null }: ExecutorPromptInput,
): string {
  return `${formatDataBlock({
    question: query,
    objects,
    ...(distortions ? { distortions } : {}),
    ...(analysis ? { analysis } : {}),
    reference_given: hasReference,
    ...(replanReason === null ? {} : { missing_so_far: replanReason }),
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
  })}\n\nReport on ${objects.length === 1 && objects[0] === 'Global' ? 'the whole image' : 'each of the objects'}.${replanReason === null ? '' : ' An earlier report was insufficient; missing_so_far says what it lacked.'}`;
}
