// The thresholds between "none" and "extreme", as data: which measurement tells which distortion, and from where on.
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
      'Which side of the category it shows, as the lexicon calls it; null where it shows no particular one.',
    ),
    side: Type.Enum(['above', 'below'], { description: 'On which side of the cuts the distortion lies.' }),
    cuts: Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Where slight, moderate, severe and extreme begin.',
    }),
    clean: Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: 'Where most good photos lie.' }),
    relative: Type.Boolean({
      default: true,
      description: 'Whether, beside a reference, only the change from it counts.',
    }),
    digits: Type.Integer({ minimum: 0, maximum: 4, default: 1, description: 'Digits behind the point when quoted.' }),
    says: NonBlank('What the value means, with {value} in it.'),
    typical: NonBlank('What good photos have, with {low} and {high} in it.'),
    unless: Nullable(
      Type.Object(
        {
          measurement: NonBlank('Name of another measurement.'),
          below: Nullable(Type.Number(), 'Applies when the other value is below this.'),
          above: Nullable(Type.Number(), 'Applies when the other value is above this.'),
          always: Type.Boolean({
            default: false,
            description: 'Also beside a reference, which otherwise explains the scene better.',
          }),
        },
        { additionalProperties: false },
      ),
      'When another measurement explains the value, it counts for nothing.',
    ),
  },
  { additionalProperties: false },
);
export type Indicator = Static<typeof Indicator>;

const CategoryRules = Type.Object(
  {
    name: NonBlank('The distortion as a noun in an answer.'),
    when_named: Type.Array(DistortionCategory, {
      default: [],
      description: 'Categories that a question about this one is about as well: who asks for sharpness asks for blur.',
    }),
    indicators: Type.Array(Indicator, { minItems: 1 }),
  },
  { additionalProperties: false },
);

const SeverityFile = defineModel(
  'configs/severity.yaml',
  Type.Object(
    {
      version: NonBlank('Changes whenever a threshold does.'),
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
