// Repairs the executor's replies before they are validated: spelling of listed words, and lists given as objects.
import { isRecord } from '../../../../schemas/validation/explain.ts';
import { DISTORTION_CATEGORIES, GLOBAL, SEVERITIES } from '../../../../schemas/vocabulary.ts';
import { getOwn } from '../../../lib/get-own.ts';
import type { ToolRegistry } from '../../../tools/registry.ts';
import {
  toEntryList,
  canonicalTool,
  canonicalValue,
  CATEGORY_SYNONYMS,
  mapRecords,
  SEVERITY_SYNONYMS,
  type OnRepair,
} from '../normalize-reply.ts';

export interface ClosedLists {
  objects: readonly string[];
  /** Names of the tools that may be chosen. */
  tools: readonly string[];
}

export function normalizeExamination(
  reply: Record<string, unknown>,
  { objects, tools }: ClosedLists,
  registry: ToolRegistry,
  onRepair: OnRepair,
): Record<string, unknown> {
  const allowed = [...objects, GLOBAL];
  const object = (word: unknown) => canonicalValue(word, allowed, WHOLE_IMAGE_SYNONYMS, onRepair);
  const category = (word: unknown) => canonicalValue(word, DISTORTION_CATEGORIES, CATEGORY_SYNONYMS, onRepair);
  const tool = (word: unknown) => canonicalTool(word, tools, registry, onRepair);
  const normalizers: Record<string, (value: unknown) => unknown> = {
    distortion_set: (value) =>
      mapRecords(
        toEntryList(value, 'distortion_set', (name, distortions) => [{ object: name, distortions }], onRepair),
        (entry) => ({
          ...entry,
          object: object(entry['object']),
          distortions: Array.isArray(entry['distortions']) ? entry['distortions'].map(category) : entry['distortions'],
        }),
      ),
    distortion_analysis: (value) =>
      mapRecords(
        toEntryList(
          value,
          'distortion_analysis',
          (name, items) =>
            (Array.isArray(items) ? items : [items]).map((item: unknown) =>
              isRecord(item) ? { ...item, object: name } : item,
            ),
          onRepair,
        ),
        (entry) => ({
          ...entry,
          object: object(entry['object']),
          type: category(entry['type']),
          severity: canonicalValue(entry['severity'], SEVERITIES, SEVERITY_SYNONYMS, onRepair),
        }),
      ),
    selected_tools: (value) =>
      mapRecords(
        toEntryList(
          value,
          'selected_tools',
          (name, chosen) =>
            Object.entries(isRecord(chosen) ? chosen : {}).map(([distortion, named]) => ({
              object: name,
              distortion,
              tool: named,
            })),
          onRepair,
        ),
        (entry) => ({
          ...entry,
          object: object(entry['object']),
          distortion: category(entry['distortion']),
          tool: tool(entry['tool']),
        }),
      ),
    boxes: (value) => mapRecords(value, (entry) => ({ ...entry, object: object(entry['object']) })),
  };
  return Object.fromEntries(
    Object.entries(reply).map(([field, value]) => [field, getOwn(normalizers, field)?.(value) ?? value]),
  );
}

const WHOLE_IMAGE_SYNONYMS: Record<string, string> = {
  image: GLOBAL,
  'whole image': GLOBAL,
  picture: GLOBAL,
  'whole picture': GLOBAL,
  overall: GLOBAL,
};
