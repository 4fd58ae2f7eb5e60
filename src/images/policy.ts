// The decoding policy: how a file may differ from plain 8-bit sRGB, and how each difference is handled. docs/decoding.md is generated from these tables.
import type { Metadata } from 'sharp';
import { classifyProfile, type ProfileKind } from './icc-profile.ts';
import type { ImageFormat } from './formats/sniff.ts';
import type { Container } from './containers/container.ts';

/** What is known about a file before its pixels are decoded. */
interface ImageFacts {
  format: ImageFormat;
  metadata: Metadata;
  /** Null for formats that are always re-encoded. */
  container: Container | null;
  profile: ProfileKind | null;
  /** 1 for a still image. */
  frames: number;
}

interface Deviation {
  condition: string;
  action: string;
  applies: (facts: ImageFacts) => boolean;
  note: (facts: ImageFacts) => string;
  /** Whether the pixels are decoded here and sent to the sidecar as PNG. */
  reencodes: boolean;
}

/** Plain images of these formats are sent to the sidecar in their own encoding, without metadata. */
export const PASSTHROUGH_FORMATS: readonly ImageFormat[] = ['jpeg', 'png', 'webp'];

export const DEVIATIONS: readonly Deviation[] = [
  {
    condition: 'a format other than JPEG, PNG or WebP',
    action: 'decoded here',
    reencodes: true,
    applies: ({ format }) => !PASSTHROUGH_FORMATS.includes(format),
    note: ({ format }) => `decoded from ${format.toUpperCase()}`,
  },
  {
    condition: 'arithmetic, lossless or 12-bit JPEG coding',
    action: 'decoded here, if the decoder supports it',
    reencodes: true,
    applies: ({ container }) => container?.isUnusual ?? false,
    note: () => 'decoded from an unusual kind of JPEG',
  },
  {
    condition: 'an EXIF orientation',
    action: 'rotated upright',
    reencodes: true,
    applies: ({ metadata }) => (metadata.orientation ?? 1) > 1,
    note: ({ metadata }) => `rotated upright (EXIF orientation ${metadata.orientation ?? 1})`,
  },
  {
    condition: 'a colour profile that is not sRGB',
    action: 'converted to sRGB',
    reencodes: true,
    applies: ({ profile }) => profile === 'other',
    note: () => 'converted from the embedded colour profile to sRGB',
  },
  {
    condition: 'a colour profile that cannot be read',
    action: 'ignored; the colours are treated as sRGB',
    reencodes: true,
    applies: ({ profile }) => profile === 'broken',
    note: () => 'the embedded colour profile cannot be read: treated as sRGB',
  },
  {
    condition: 'CMYK',
    action: 'converted to sRGB with the embedded profile, or a default one',
    reencodes: true,
    applies: ({ metadata }) => metadata.space === 'cmyk',
    note: () => 'converted from CMYK to sRGB',
  },
  {
    condition: 'CIE Lab',
    action: 'converted to sRGB',
    reencodes: true,
    applies: ({ metadata }) => isLab(metadata),
    note: () => 'converted from Lab to sRGB',
  },
  {
    condition: 'transparency',
    action: 'flattened onto white',
    reencodes: true,
    applies: ({ metadata }) => metadata.hasAlpha,
    note: () => 'alpha channel flattened onto white',
  },
  {
    condition: '16 bits per channel (or 10, 12)',
    action: 'reduced to 8',
    reencodes: true,
    applies: ({ metadata }) => metadata.depth === 'ushort',
    note: () => 'reduced to 8 bits per channel',
  },
  {
    condition: 'several frames or pages',
    action: 'only the first is measured',
    reencodes: true,
    applies: ({ frames }) => frames > 1,
    note: ({ frames }) => `first of ${frames} frames`,
  },
  {
    condition: 'greyscale pixels',
    action: 'measured as three equal channels',
    reencodes: false,
    applies: ({ metadata }) => ['b-w', 'grey16'].includes(metadata.space),
    note: () => 'greyscale: measured as three equal channels',
  },
];

/** Pixel formats that are refused, each with what was expected instead. */
export const UNSUPPORTED_PIXELS: readonly {
  condition: string;
  expected: string;
  applies: (metadata: Metadata) => boolean;
}[] = [
  {
    condition: 'floating-point, signed or 32-bit channels',
    expected: '8 or 16 bits per channel (tone-map it first)',
    applies: (metadata) => !['uchar', 'ushort'].includes(metadata.depth) && !isLab(metadata),
  },
  {
    condition: 'channels other than grey, RGB, CMYK or Lab, with or without alpha',
    expected: 'grey, RGB, CMYK or Lab pixels',
    applies: (metadata) => !['b-w', 'grey16', 'srgb', 'rgb16', 'cmyk'].includes(metadata.space) && !isLab(metadata),
  },
];

/** All notes about the file, and whether its pixels must be decoded here. */
export function applyPolicy(facts: ImageFacts): { notes: string[]; reencodes: boolean } {
  const found = DEVIATIONS.filter(({ applies }) => applies(facts));
  return { notes: found.map(({ note }) => note(facts)), reencodes: found.some(({ reencodes }) => reencodes) };
}

export function gatherFacts(format: ImageFormat, metadata: Metadata, container: Container | null): ImageFacts {
  return {
    format,
    metadata,
    container,
    profile: metadata.icc ? classifyProfile(metadata.icc) : null,
    frames: Math.max(metadata.pages ?? 1, container?.frames ?? 1),
  };
}

const isLab = ({ space }: Metadata): boolean => ['lab', 'labs', 'labq'].includes(space);
