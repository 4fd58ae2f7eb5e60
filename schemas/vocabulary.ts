// The closed lists and building blocks of all schemas: distortion categories, severities, quality levels.
import Type, { type Static, type TSchema } from 'typebox';

export const DISTORTION_CATEGORIES = [
  'Blurs',
  'Color distortions',
  'Compression',
  'Noise',
  'Brightness change',
  'Sharpness',
  'Contrast',
] as const;
export const SEVERITIES = ['none', 'slight', 'moderate', 'severe', 'extreme'] as const;
/** From worst to best: the index plus one is the level's value. */
export const LEVELS = ['Bad', 'Poor', 'Fair', 'Good', 'Excellent'] as const;
/** The object name of the whole image. */
export const GLOBAL = 'Global';

export const DistortionCategory = Type.Enum([...DISTORTION_CATEGORIES], {
  description: 'A distortion category of the closed list.',
});
export type DistortionCategory = Static<typeof DistortionCategory>;

export const Severity = Type.Enum([...SEVERITIES], {
  description: 'How strong a distortion is, from none to extreme.',
});
export type Severity = Static<typeof Severity>;

export const Level = Type.Enum([...LEVELS], {
  description: 'The quality level: Excellent 5, Good 4, Fair 3, Poor 2, Bad 1.',
});
export type Level = Static<typeof Level>;
export type LevelProbabilities = Record<Level, number>;

/** A string with at least one character that is not white space. */
export const NonBlank = (description: string, options: { maxLength?: number; examples?: string[] } = {}) =>
  Type.String({ pattern: '\\S', description, ...options });

/** A value or null; null by default. */
export const Nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { default: null, description });

/** A value or null that is always present in output. */
export const OrNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** An object keyed by object names ("vehicle") or "Global". */
export const ByObject = <T extends TSchema>(schema: T, description: string) =>
  Type.Record(Type.String({ pattern: '\\S' }), schema, { additionalProperties: false, description });

/** An object keyed by distortion categories. */
export const ByCategory = <T extends TSchema>(schema: T, description: string) =>
  Type.Record(Type.String({ pattern: `^(${DISTORTION_CATEGORIES.join('|')})$` }), schema, {
    additionalProperties: false,
    description,
  });

/** A time as ISO 8601 in UTC. */
export const Timestamp = (description: string) => Type.String({ format: 'date-time', description });

/** A score on the common scale, 1 (bad) to 5 (excellent). */
export const Score = (description: string) => Type.Number({ minimum: 1, maximum: 5, description });
