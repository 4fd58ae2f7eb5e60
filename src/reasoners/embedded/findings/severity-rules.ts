// Loads configs/severity.yaml: which measurement indicates which distortion, and the thresholds of its severities.
import Type, { type Static } from 'typebox';
import { defineModel } from '../../../../schemas/validation/model.ts';
import { DISTORTION_CATEGORIES, DistortionCategory, NonBlank, Nullable } from '../../../../schemas/vocabulary.ts';
import { readYaml } from '../../../config/config.ts';
import { ConfigError } from '../../../errors.ts';

const Indicator = Type.Object(
  {
    measurement: NonBlank('Name of the measurement.'),
    shows: Nullable(
      NonBlank('A noun.'),
      'The variant of the category that it indicates, as named in the lexicon; null for the category as a whole.',
    ),
    side: Type.Enum(['above', 'below'], { description: 'Whether values above or below the cuts are distorted.' }),
    cuts: Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Where slight, moderate, severe and extreme begin.',
    }),
    clean: Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: 'Range of most good photos.' }),
    relative: Type.Boolean({ default: true, description: 'Whether only the change counts when there is a reference.' }),
    digits: Type.Integer({
      minimum: 0,
      maximum: 4,
      default: 1,
      description: 'Digits after the decimal point in texts.',
    }),
    percent: Type.Boolean({
      default: false,
      description: 'Whether texts write the value, a fraction, as a percentage.',
    }),
    says: NonBlank('Text for the value, with the placeholder {value}.'),
    typical: NonBlank('Text for the clean range, with the placeholders {low} and {high}.'),
    unless: Nullable(
      Type.Object(
        {
          measurement: NonBlank('Name of another measurement.'),
          below: Nullable(Type.Number(), 'Applies when the other value is below this.'),
          above: Nullable(Type.Number(), 'Applies when the other value is above this.'),
          always: Type.Boolean({ default: false, description: 'Whether it also applies when there is a reference.' }),
        },
        { additionalProperties: false },
      ),
      'Ignores the indicator when another measurement explains its value.',
    ),
  },
  { additionalProperties: false },
);
export type Indicator = Static<typeof Indicator>;

const CategoryRules = Type.Object(
  {
    name: NonBlank('The distortion as a noun in answers.'),
    when_named: Type.Array(DistortionCategory, {
      default: [],
      description:
        'Categories that a question about this one also means: a question about sharpness is also about blur.',
    }),
    indicators: Type.Array(Indicator, { minItems: 1 }),
  },
  { additionalProperties: false },
);

const SeverityFile = defineModel(
  'configs/severity.yaml',
  Type.Object(
    {
      version: NonBlank('Changes with every change of a threshold.'),
      origin: NonBlank('What the thresholds were fitted on.'),
      categories: Type.Record(Type.String(), CategoryRules),
    },
    { additionalProperties: false },
  ),
);

export interface SeverityRules {
  version: string;
  categories: ReadonlyMap<DistortionCategory, Static<typeof CategoryRules>>;
}

export function loadSeverityRules(root: string): SeverityRules {
  const { version, categories } = readYaml(root, 'configs/severity.yaml', SeverityFile);
  const entries = DISTORTION_CATEGORIES.map((category) => {
    const rules = categories[category];
    if (!rules) throw new ConfigError(`configs/severity.yaml: no rules for ${category}`);
    for (const { measurement, side, cuts } of rules.indicators) {
      const ordered = cuts.every(
        (cut, index) => index === 0 || (side === 'above' ? cut > (cuts[index - 1] ?? 0) : cut < (cuts[index - 1] ?? 0)),
      );
      if (!ordered)
        throw new ConfigError(
          `configs/severity.yaml: the cuts of ${measurement} for ${category} must go ${side === 'above' ? 'up' : 'down'}`,
        );
    }
    return [category, rules] as const;
  });
  return { version, categories: new Map(entries) };
}
