// Says what a visible distortion does to the image and what would help.
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import type { RankedFinding } from '../../findings/ranking.ts';

interface Advice {
  /** Effect while slight or moderate, and once severe or extreme. */
  effect: readonly [mild: string, strong: string];
  remedy: string;
}

/** Without a full stop; null where nothing is visible. */
export function describeEffect(item: RankedFinding): string | null {
  if (item.rank === 0) return null;
  const [mild, strong] = findAdvice(item).effect;
  return item.rank >= 3 ? strong : mild;
}

/** Without a full stop; null where nothing is visible. */
export function describeRemedy(item: RankedFinding): string | null {
  return item.rank === 0 ? null : findAdvice(item).remedy;
}

const findAdvice = ({ variant, type }: RankedFinding): Advice =>
  (variant === null ? undefined : ADVICE_BY_VARIANT[variant]) ?? ADVICE_BY_CATEGORY[type];

const ADVICE_BY_CATEGORY: Record<DistortionCategory, Advice> = {
  Blurs: {
    effect: ['fine detail looks soft', 'fine detail is lost and edges are smeared'],
    remedy: 'A steadier or better focused shot would help most; sharpening can only hide it',
  },
  Sharpness: {
    effect: ['edges and textures lack some crispness', 'edges and textures have lost their crispness'],
    remedy: 'A better focused shot would help most; sharpening afterwards brings back only a little',
  },
  Compression: {
    effect: ['edges and smooth areas show marks of compression', 'fine texture is gone and edges are ragged'],
    remedy: 'Only a copy saved at a higher quality would help: detail removed by compression cannot be restored',
  },
  Noise: {
    effect: ['smooth areas look grainy', 'grain covers fine detail'],
    remedy: 'More light or a lower ISO would avoid it; denoising would reduce it',
  },
  'Brightness change': {
    effect: ['some areas are too dark or too bright', 'detail is lost in areas that are far too dark or too bright'],
    remedy: 'A corrected exposure would help most; editing the brightness afterwards helps a little',
  },
  Contrast: {
    effect: ['light and dark areas are poorly separated', 'light and dark areas run into each other'],
    remedy: 'Adjusting the levels or the tone curve would help',
  },
  'Color distortions': {
    effect: ['colours look a little off', 'colours look wrong'],
    remedy: 'Correcting the white balance and the saturation would help',
  },
};

/** Keys are the variants' names in configs/lexicon.yaml. */
const ADVICE_BY_VARIANT: Readonly<Record<string, Advice>> = {
  'motion blur': {
    effect: ['detail is smeared in one direction', 'shapes are smeared in one direction and fine detail is lost'],
    remedy: 'A shorter exposure or a steadier camera would avoid it',
  },
  'over-sharpening': {
    effect: ['edges have thin halos', 'edges have broad halos and look artificial'],
    remedy: 'Less sharpening would remove it',
  },
  blocking: {
    effect: ['small squares are visible in smooth areas', 'the image breaks up into squares and fine texture is gone'],
    remedy: ADVICE_BY_CATEGORY.Compression.remedy,
  },
  'colour noise': {
    effect: ['smooth areas show coloured speckles', 'coloured speckles cover fine detail'],
    remedy: 'Denoising the colours would remove most of it',
  },
  'stray pixels': {
    effect: ['single dots stand out', 'stray dots are the first thing one notices'],
    remedy: 'A median filter would remove most of them',
  },
  underexposure: {
    effect: ['dark areas show little detail', 'most detail is lost in the dark'],
    remedy: 'A longer exposure would help most; brightening dark areas afterwards also brings out noise',
  },
  overexposure: {
    effect: ['bright areas show little detail', 'bright areas are washed out and their detail is gone'],
    remedy: 'A shorter exposure would help: areas burnt out to white cannot be restored',
  },
  'low contrast': {
    effect: ['the image looks flat', 'the image looks grey and hazy'],
    remedy: 'Stretching the levels would help',
  },
  'excessive contrast': {
    effect: ['dark and bright areas lose detail', 'dark areas are pure black and bright areas pure white'],
    remedy: 'A softer tone curve or softer light would help',
  },
  undersaturation: {
    effect: ['colours look pale', 'hardly any colour is left'],
    remedy: 'Raising the saturation would help',
  },
  oversaturation: {
    effect: ['colours look exaggerated', 'colours are so strong that fine shades are lost'],
    remedy: 'Lowering the saturation would help',
  },
  'colour cast': {
    effect: ['grey and white areas have a tint', 'the whole image has a tint'],
    remedy: 'Correcting the white balance would remove most of it',
  },
};
