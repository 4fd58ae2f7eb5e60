// The only things that are mended in a model's answer: case, known synonyms, and the two shapes a list by object may have. Each is reported.
import type { DistortionCategory, Level, Severity } from '../../../schemas/vocabulary.ts';
import type { ToolRegistry } from '../../tools/registry.ts';

export type Repaired = (what: string) => void;

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

/** The allowed spelling of a word, or the word itself where it is none: validation then refuses it. */
export function canonical(
  word: unknown,
  allowed: readonly string[],
  synonyms: Readonly<Record<string, string>>,
  repaired: Repaired,
): unknown {
  if (typeof word !== 'string' || allowed.includes(word)) return word;
  const plain = word.trim().toLowerCase();
  const synonym = Object.hasOwn(synonyms, plain) ? synonyms[plain] : undefined;
  const found =
    allowed.find((candidate) => candidate.toLowerCase() === plain) ??
    (synonym !== undefined && allowed.includes(synonym) ? synonym : undefined);
  if (found === undefined) return word;
  repaired(`"${word.slice(0, 40)}" read as "${found}"`);
  return found;
}

/** The registry's name of a tool, whatever case or alias it was given in. */
export function canonicalTool(
  word: unknown,
  allowed: readonly string[],
  registry: ToolRegistry,
  repaired: Repaired,
): unknown {
  if (typeof word !== 'string' || allowed.includes(word)) return word;
  const name = registry.find(word.trim())?.name;
  if (name === undefined || !allowed.includes(name)) return word;
  repaired(`"${word.slice(0, 40)}" read as "${name}"`);
  return name;
}

/** { vehicle: … } as [{ object: "vehicle", … }]: providers' schemas know no free keys, the pipeline's models do. */
export function asEntries(
  value: unknown,
  field: string,
  toEntries: (object: string, item: unknown) => unknown[],
  repaired: Repaired,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  repaired(`${field} given by object`);
  return Object.entries(value).flatMap(([object, item]) => toEntries(object, item));
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The items of a list that are objects, each as `change` makes it; all else stays for validation to refuse. */
export function mapRecords(
  value: unknown,
  change: (item: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => (isRecord(item) ? change(item) : item)) : value;
}
