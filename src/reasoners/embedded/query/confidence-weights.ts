// Reads the fitted weights of the uncertainty features (configs/planner-confidence.yaml).
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../schemas/validation/model.ts';

/** Each is 0 where nothing is uncertain. */
export interface UncertaintyFeatures {
  /** Share of the content words that are in no list and in no object's name. */
  unknown_words: number;
  /** Share of the content words that are objects only by their position in the sentence. */
  unlisted_objects: number;
  /** Words corrected as typos. */
  typos: number;
  /** Objects without an article. */
  bare_objects: number;
  /** Objects mentioned that the question is not about. */
  incidental_objects: number;
  /** Clauses that tell a story around the question. */
  narrative_clauses: number;
  /** More than one object or flaw: which belongs to which is a guess. */
  combinations: number;
  /** How balanced words about quality and words about taste or content are. */
  mixed_subject: number;
  /** Only words with other uses name the subject. */
  vague_subject: number;
  /** The answer form is only the best guess. */
  unrecognised_form: number;
  /** Clauses beyond the second that are not narrative, plus words beyond the twentieth in tens. */
  length: number;
}

export interface ConfidenceWeights {
  intercept: number;
  weights: Readonly<Record<keyof UncertaintyFeatures, number>>;
}

export const FEATURE_NAMES = [
  'unknown_words',
  'unlisted_objects',
  'typos',
  'bare_objects',
  'incidental_objects',
  'narrative_clauses',
  'combinations',
  'mixed_subject',
  'vague_subject',
  'unrecognised_form',
  'length',
] as const satisfies readonly (keyof UncertaintyFeatures)[];
const Weight = Type.Number({ maximum: 0 });
const ConfidenceFile = defineModel(
  'configs/planner-confidence.yaml',
  Type.Object(
    {
      fitted_on: Type.String({ minLength: 1 }),
      intercept: Type.Number(),
      weights: Type.Object(
        Object.fromEntries(FEATURE_NAMES.map((name) => [name, Weight])) as Record<
          keyof UncertaintyFeatures,
          typeof Weight
        >,
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
);

export function loadConfidenceWeights(path: string): ConfidenceWeights {
  const { intercept, weights }: Static<typeof ConfidenceFile> = parse(
    ConfidenceFile,
    parseYaml(readFileSync(path, 'utf8')),
  );
  return { intercept, weights };
}
