// The decoding policy, in one place: what a file may have that plain 8-bit sRGB has not, what is done about it, what the user is told.
// docs/decoding.md is made from these tables.
import type { Metadata } from 'sharp';
import { meaningOf, type ProfileMeaning } from './icc-profile.ts';
import type { ImageFormat } from './formats/sniff.ts';
import type { Structure } from './containers/container.ts';

/** What is known about a file before its pixels are decoded. */
export interface Facts {
  format: ImageFormat;
  metadata: Metadata;
  /** Of the formats that may be sent on as they are. */
  structure: Structure | null;
  profile: ProfileMeaning | null;
  /** All of them; 1 for a still picture. */
  frames: number;
}

export interface Deviation {
  has: string;
  isDone: string;
  applies: (facts: Facts) => boolean;
  note: (facts: Facts) => string;
  /** Whether the pixels are decoded here and sent on as PNG; the sidecar copes with the others itself. */
  reencodes: boolean;
}

/** Plain pictures of these formats are sent on in their own coding, without metadata and whatever else is not the picture. */
export const SENT_AS_THEY_ARE: readonly ImageFormat[] = ['jpeg', 'png', 'webp'];

export const DEVIATIONS: readonly Deviation[] = [
  {
    has: 'another format than JPEG, PNG and WebP',
    isDone: 'decoded here',
    reencodes: true,
    applies: ({ format }) => !SENT_AS_THEY_ARE.includes(format),
    note: ({ format }) => `decoded from ${format.toUpperCase()}`,
  },
  {
    has: 'arithmetic, lossless or 12-bit JPEG coding',
    isDone: 'decoded here, where the decoder can',
    reencodes: true,
    applies: ({ structure }) => structure?.isUnusual ?? false,
    note: () => 'decoded from an unusual kind of JPEG',
  },
  {
    has: 'an EXIF orientation',
    isDone: 'turned upright',
    reencodes: true,
    applies: ({ metadata }) => (metadata.orientation ?? 1) > 1,
    note: ({ metadata }) => `turned upright (EXIF orientation ${metadata.orientation ?? 1})`,
  },
  {
    has: 'a colour profile that is not sRGB',
    isDone: 'converted to sRGB',
    reencodes: true,
    applies: ({ profile }) => profile === 'other',
    note: () => 'converted from the embedded colour profile to sRGB',
  },
  {
    has: 'a colour profile that cannot be read',
    isDone: 'left aside; the colours are taken for sRGB',
    reencodes: true,
    applies: ({ profile }) => profile === 'broken',
    note: () => 'the embedded colour profile cannot be read: taken for sRGB',
  },
  {
    has: 'CMYK',
    isDone: 'converted to sRGB, by the embedded profile or a common one',
    reencodes: true,
    applies: ({ metadata }) => metadata.space === 'cmyk',
    note: () => 'converted from CMYK to sRGB',
  },
  {
    has: 'CIE Lab',
    isDone: 'converted to sRGB',
    reencodes: true,
    applies: ({ metadata }) => isLab(metadata),
    note: () => 'converted from Lab to sRGB',
  },
  {
    has: 'transparency',
    isDone: 'laid over white',
    reencodes: true,
    applies: ({ metadata }) => metadata.hasAlpha,
    note: () => 'alpha channel laid over white',
  },
  {
    has: '16 bits a channel (or 10, 12)',
    isDone: 'reduced to 8',
    reencodes: true,
    applies: ({ metadata }) => metadata.depth === 'ushort',
    note: () => 'reduced to 8 bits a channel',
  },
  {
    has: 'several frames or pages',
    isDone: 'the first one is measured',
    reencodes: true,
    applies: ({ frames }) => frames > 1,
    note: ({ frames }) => `first of ${frames} frames`,
  },
  {
    has: 'shades of grey only',
    isDone: 'measured with three equal channels',
    reencodes: false,
    applies: ({ metadata }) => ['b-w', 'grey16'].includes(metadata.space),
    note: () => 'grey: measured with three equal channels',
  },
];

/** Kinds of pixels that are no picture for us, with what was expected instead. */
export const REFUSED_PIXELS: readonly { has: string; expected: string; applies: (metadata: Metadata) => boolean }[] = [
  {
    has: 'floating-point, signed or 32-bit channels',
    expected: '8 or 16 bits a channel (tone-map it first)',
    applies: (metadata) => !['uchar', 'ushort'].includes(metadata.depth) && !isLab(metadata),
  },
  {
    has: 'other channels than grey, RGB, CMYK or Lab with or without alpha',
    expected: 'grey, RGB, CMYK or Lab pixels',
    applies: (metadata) => !['b-w', 'grey16', 'srgb', 'rgb16', 'cmyk'].includes(metadata.space) && !isLab(metadata),
  },
];

/** Every note about the file, and whether its pixels have to be decoded here. */
export function judge(facts: Facts): { notes: string[]; reencodes: boolean } {
  const found = DEVIATIONS.filter(({ applies }) => applies(facts));
  return { notes: found.map(({ note }) => note(facts)), reencodes: found.some(({ reencodes }) => reencodes) };
}

export function gatherFacts(format: ImageFormat, metadata: Metadata, structure: Structure | null): Facts {
  return {
    format,
    metadata,
    structure,
    profile: metadata.icc ? meaningOf(metadata.icc) : null,
    frames: Math.max(metadata.pages ?? 1, structure?.frames ?? 1),
  };
}

const isLab = ({ space }: Metadata): boolean => ['lab', 'labs', 'labq'].includes(space);
