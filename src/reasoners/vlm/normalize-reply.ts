// The only repairs of a model's reply: case, known synonyms, and the two shapes of a list by object. Each is reported.
import { isRecord } from '../../../schemas/validation/explain.ts';
import type { DistortionCategory, Level, Severity } from '../../../schemas/vocabulary.ts';
import type { ToolRegistry } from '../../tools/registry.ts';

export type OnRepair = (repair: string) => void;

export const CATEGORY_SYNONYMS: Record<string, DistortionCategory> = {
  blur: 'Blurs',
  blurry: 'Blurs',
  blurring: 'Blurs',
  blurriness: 'Blurs',
  'motion blur': 'Blurs',
  'out of focus': 'Blurs',
  defocus: 'Blurs',
  color: 'Color distortions',
  colour: 'Color distortions',
  'color distortion': 'Color distortions',
  'colour distortion': 'Color distortions',
  'colour distortions': 'Color distortions',
  'color cast': 'Color distortions',
  'compression artifacts': 'Compression',
  'compression artefacts': 'Compression',
  jpeg: 'Compression',
  blocking: 'Compression',
  artifacts: 'Compression',
  noisy: 'Noise',
  grain: 'Noise',
  noises: 'Noise',
  brightness: 'Brightness change',
  'brightness changes': 'Brightness change',
  exposure: 'Brightness change',
  overexposure: 'Brightness change',
  underexposure: 'Brightness change',
  'low light': 'Brightness change',
  oversharpening: 'Sharpness',
  'over-sharpening': 'Sharpness',
  'low contrast': 'Contrast',
  'contrast change': 'Contrast',
};

export const SEVERITY_SYNONYMS: Record<string, Severity> = {
  no: 'none',
  absent: 'none',
  mild: 'slight',
  minor: 'slight',
  low: 'slight',
  medium: 'moderate',
  noticeable: 'moderate',
  strong: 'severe',
  serious: 'severe',
  high: 'severe',
  'very severe': 'extreme',
};

/** The paper's letters for the levels. */
export const LEVEL_SYNONYMS: Record<string, Level> = { a: 'Excellent', b: 'Good', c: 'Fair', d: 'Poor', e: 'Bad' };

/** The allowed spelling of a word. An unknown word is returned as it is: validation rejects it. */
export function canonicalValue(
  word: unknown,
  allowed: readonly string[],
  synonyms: Readonly<Record<string, string>>,
  onRepair: OnRepair,
): unknown {
  if (typeof word !== 'string' || allowed.includes(word)) return word;
  const normalized = word.trim().toLowerCase();
  const synonym = Object.hasOwn(synonyms, normalized) ? synonyms[normalized] : undefined;
  const found =
    allowed.find((candidate) => candidate.toLowerCase() === normalized) ??
    (synonym !== undefined && allowed.includes(synonym) ? synonym : undefined);
  if (found === undefined) return word;
  onRepair(`"${word.slice(0, 40)}" read as "${found}"`);
  return found;
}

/** The registry's name of a tool, given in any case or by an alias. */
export function canonicalTool(
  word: unknown,
  allowed: readonly string[],
  registry: ToolRegistry,
  onRepair: OnRepair,
): unknown {
  if (typeof word !== 'string' || allowed.includes(word)) return word;
  const name = registry.find(word.trim())?.name;
  if (name === undefined || !allowed.includes(name)) return word;
  onRepair(`"${word.slice(0, 40)}" read as "${name}"`);
  return name;
}

/** Converts { vehicle: … } to [{ object: "vehicle", … }]: providers' schemas allow no free keys, the pipeline's models do. */
export function toEntryList(
  value: unknown,
  field: string,
  toEntries: (object: string, item: unknown) => unknown[],
  onRepair: OnRepair,
): unknown {
  if (!isRecord(value)) return value;
  onRepair(`${field} given by object`);
  return Object.entries(value).flatMap(([object, item]) => toEntries(object, item));
}

/** Maps the items of a list that are objects; everything else stays for validation to reject. */
export function mapRecords(
  value: unknown,
  change: (item: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => (isRecord(item) ? change(item) : item)) : value;
}
