// What a distortion does to a picture and what would help: the part of an explanation that no measurement can word.
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import type { Judged } from '../../findings/ranking.ts';

interface Consequence {
  /** What it does while slight or moderate, and once severe or extreme. */
  does: readonly [mild: string, strong: string];
  improve: string;
}

export function effectOf(item: Judged): string | null {
  if (item.rank === 0) return null;
  const {
    does: [mild, strong],
  } = consequenceOf(item);
  return `${item.rank >= 3 ? strong : mild}.`;
}

export function remedyOf(item: Judged): string | null {
  return item.rank === 0 ? null : `${consequenceOf(item).improve}.`;
}

const consequenceOf = ({ side, type }: Judged): Consequence =>
  (side === null ? undefined : BY_SIDE[side]) ?? BY_CATEGORY[type];

const BY_CATEGORY: Record<DistortionCategory, Consequence> = {
  Blurs: {
    does: ['Fine detail looks soft', 'Fine detail is lost and edges are smeared'],
    improve: 'A steadier or better focused shot would help most; sharpening can only mask it',
  },
  Sharpness: {
    does: ['Edges and textures lack some crispness', 'Edges and textures have lost their crispness'],
    improve: 'A better focused shot would help most; sharpening afterwards brings back only a little',
  },
  Compression: {
    does: ['Edges and smooth areas show traces of coding', 'Fine texture is gone and edges are ragged'],
    improve: 'Only a copy saved at a higher quality would help: what compression dropped cannot be brought back',
  },
  Noise: {
    does: ['Smooth areas look grainy', 'Grain covers fine detail'],
    improve: 'More light or a lower ISO would avoid it; denoising would reduce it',
  },
  'Brightness change': {
    does: ['Some tones are too dark or too bright', 'Detail is lost in tones that are far too dark or too bright'],
    improve: 'A corrected exposure would help most; tone curves can do some of it afterwards',
  },
  Contrast: {
    does: ['Tones are not well separated', 'Tones run into each other'],
    improve: 'Adjusting levels or the tone curve would help',
  },
  'Color distortions': {
    does: ['Colours look a little off', 'Colours look wrong'],
    improve: 'Correcting white balance and saturation would help',
  },
};

/** By the side as the lexicon calls it. */
const BY_SIDE: Readonly<Record<string, Consequence>> = {
  'motion blur': {
    does: ['Detail is smeared along one direction', 'Shapes are smeared along one direction and fine detail is lost'],
    improve: 'A shorter exposure or a steadier camera would avoid it',
  },
  'over-sharpening': {
    does: ['Edges have thin halos', 'Edges have broad halos and look artificial'],
    improve: 'Less sharpening would remove it',
  },
  blocking: {
    does: ['Block edges can be seen in smooth areas', 'The picture breaks up into blocks and fine texture is gone'],
    improve: BY_CATEGORY.Compression.improve,
  },
  'colour noise': {
    does: ['Smooth areas show coloured speckles', 'Coloured speckles cover fine detail'],
    improve: 'Denoising the colours would remove most of it',
  },
  'stray pixels': {
    does: ['Single pixels stick out', 'Stray pixels catch the eye before anything else'],
    improve: 'A median filter would remove most of them',
  },
  underexposure: {
    does: ['Shadows hold little detail', 'Shadows swallow most of the detail'],
    improve: 'A longer exposure would help most; lifting the shadows afterwards brings up noise',
  },
  overexposure: {
    does: ['Bright areas hold little detail', 'Bright areas are washed out and their detail is gone'],
    improve: 'A shorter exposure would help: what is burnt out cannot be brought back',
  },
  'low contrast': {
    does: ['The picture looks flat', 'The picture looks grey and hazy'],
    improve: 'Stretching the levels would help',
  },
  'excessive contrast': {
    does: ['Shadows and lights lose detail', 'Shadows and lights are cut off'],
    improve: 'A softer tone curve or softer light would help',
  },
  undersaturation: {
    does: ['Colours look pale', 'Hardly any colour is left'],
    improve: 'Raising the saturation would help',
  },
  oversaturation: {
    does: ['Colours look exaggerated', 'Colours glow and lose their nuances'],
    improve: 'Lowering the saturation would help',
  },
  'colour cast': {
    does: ['Neutral tones take on a tint', 'All tones are tinted'],
    improve: 'Correcting the white balance would remove most of it',
  },
};
