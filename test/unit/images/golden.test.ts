// The decoding policy against pixels that the tests know: every format and variant, decoded as the sidecar will see it.
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { makePng, makeAnimatedPng, pngChunk, withChunk } from '../../support/images/png-files.ts';
import { makeProfile, withProfile, SRGB_PRIMARIES } from '../../support/images/metadata-blocks.ts';
import { makeImage } from '../../support/images/images.ts';
import { difference, prepare } from '../../support/images/prepared.ts';

const [width, height] = [48, 32];
const source = await makeImage({ width, height }).raw().toBuffer();
const other = await makeImage({ width, height, seed: 2 }).raw().toBuffer();
const photo = (pixels: Buffer = source): Sharp => sharp(pixels, { raw: { width, height, channels: 3 } });
const rgb = (pixel: (index: number) => number[]): Buffer =>
  Buffer.from(Array.from({ length: width * height }, (_, index) => pixel(index)).flat());
const at = (index: number, channel = 0): number => source[3 * index + channel]!;

interface Golden {
  name: string;
  file: Buffer | Promise<Buffer>;
  expected?: Uint8Array;
  /** Largest difference allowed, in levels of 255; with `mean`, of the mean. */
  within?: number;
  mean?: number;
  notes?: RegExp[];
}

function golden(title: string, cases: Golden[]): void {
  void t.test(title, async (t) => {
    for (const { name, file, expected = source, within = 0, mean = Infinity, notes = [] } of cases) {
      const { image, pixels } = await prepare(t, await file);
      const found = difference(pixels, expected);
      t.ok(
        found.largest <= within && found.mean <= mean,
        `${name}: at most ${within}, mean ${mean}: ${JSON.stringify(found)}`,
      );
      t.equal(image.info.notes.length, notes.length, `${name}: ${image.info.notes.join('; ')}`);
      for (const note of notes)
        t.ok(
          image.info.notes.some((text) => note.test(text)),
          `${name}: ${String(note)}`,
        );
    }
  });
}

const lossy = { within: 60, mean: 4 };
const baseline = await photo().jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer();
const ofJpeg = (file: Buffer) => sharp(file).raw().toBuffer();

golden('JPEG: baseline, progressive, subsampled, grey, restart intervals', [
  { name: 'baseline', file: baseline, ...lossy },
  {
    name: 'progressive',
    file: photo().jpeg({ quality: 95, chromaSubsampling: '4:4:4', progressive: true }).toBuffer(),
    expected: await ofJpeg(baseline),
  },
  { name: '4:2:0', file: photo().jpeg({ quality: 95, chromaSubsampling: '4:2:0' }).toBuffer(), within: 90, mean: 9 },
  { name: 'optimised scans', file: photo().jpeg({ quality: 95, mozjpeg: true }).toBuffer(), within: 90, mean: 9 },
  {
    name: 'grey',
    file: photo().toColourspace('b-w').jpeg({ quality: 100 }).toBuffer(),
    expected: await greyOf(),
    within: 4,
    notes: [/grey/],
  },
]);

golden('PNG: depths, grey, palettes, transparency, interlace', [
  { name: '8-bit RGB', file: makePng({ width, height, depth: 8, colour: 2, samples: source }) },
  { name: 'interlaced', file: photo().png({ progressive: true }).toBuffer() },
  {
    name: '16-bit RGB',
    file: makePng({ width, height, depth: 16, colour: 2, samples: Array.from(source, (value) => value * 257) }),
    notes: [/8 bits per channel/],
  },
  {
    name: '16-bit RGB, low bytes',
    file: makePng({ width, height, depth: 16, colour: 2, samples: Array.from(source, (value) => value * 256 + 60) }),
    notes: [/8 bits per channel/],
  },
  {
    name: '16-bit grey',
    file: makePng({
      width,
      height,
      depth: 16,
      colour: 0,
      samples: Array.from({ length: width * height }, (_, index) => at(index) * 257),
    }),
    expected: rgb((index) => [at(index), at(index), at(index)]),
    notes: [/8 bits/, /grey/],
  },
  ...([1, 2, 4] as const).map((depth): Golden => {
    const maxLevel = 2 ** depth - 1;
    const shade = (index: number) => Math.round((at(index) * maxLevel) / 255);
    return {
      name: `${depth}-bit grey`,
      file: makePng({
        width,
        height,
        depth,
        colour: 0,
        samples: Array.from({ length: width * height }, (_, index) => shade(index)),
      }),
      expected: rgb((index) => Array<number>(3).fill(Math.round((shade(index) * 255) / maxLevel))),
      notes: [/grey/],
    };
  }),
  {
    name: 'RGB with alpha',
    file: makePng({
      width,
      height,
      depth: 8,
      colour: 6,
      samples: Array.from({ length: width * height }, (_, index) => [
        at(index),
        at(index, 1),
        at(index, 2),
        index % 256,
      ]).flat(),
    }),
    expected: rgb((index) => [0, 1, 2].map((channel) => overWhite(at(index, channel), (index % 256) / 255))),
    within: 1,
    notes: [/alpha channel flattened onto white/],
  },
  {
    name: '16-bit grey with alpha',
    file: makePng({
      width,
      height,
      depth: 16,
      colour: 4,
      samples: Array.from({ length: width * height }, (_, index) => [at(index) * 257, (index % 256) * 257]).flat(),
    }),
    expected: rgb((index) => Array<number>(3).fill(overWhite(at(index), (index % 256) / 255))),
    within: 1,
    notes: [/alpha/, /8 bits/, /grey/],
  },
  paletteCase('palette', false),
  paletteCase('palette with tRNS', true),
  {
    name: 'RGB with a transparent colour',
    file: makePng({
      width,
      height,
      depth: 8,
      colour: 2,
      samples: source,
      transparency: Buffer.from([0, at(5), 0, at(5, 1), 0, at(5, 2)]),
    }),
    expected: rgb((index) =>
      [0, 1, 2].every((channel) => at(index, channel) === at(5, channel))
        ? [255, 255, 255]
        : [0, 1, 2].map((channel) => at(index, channel)),
    ),
    notes: [/alpha/],
  },
  {
    name: 'gAMA and cHRM are ignored',
    file: withChunk(
      makePng({ width, height, depth: 8, colour: 2, samples: source }),
      pngChunk('gAMA', Buffer.from([0, 1, 0x86, 0xa0])),
    ),
  },
]);

golden('WebP, AVIF, GIF', [
  { name: 'WebP lossless', file: photo().webp({ lossless: true }).toBuffer() },
  { name: 'WebP lossy', file: photo().webp({ quality: 95 }).toBuffer(), within: 90, mean: 9 },
  {
    name: 'WebP with alpha',
    file: photo().ensureAlpha(0.5).webp({ lossless: true }).toBuffer(),
    expected: source.map((value) => overWhite(value, 128 / 255)),
    within: 1,
    notes: [/alpha/],
  },
  {
    name: 'AVIF',
    file: photo().avif({ quality: 95, chromaSubsampling: '4:4:4', effort: 0 }).toBuffer(),
    within: 30,
    mean: 3,
    notes: [/decoded from AVIF/],
  },
  {
    name: 'GIF',
    file: sharp(threeColours(), { raw: { width, height, channels: 3 } })
      .gif({ dither: 0 })
      .toBuffer(),
    expected: threeColours(),
    within: 8,
    notes: [/decoded from GIF/, /alpha/],
  },
]);

golden('TIFF: compressions, tiles, depths, colour models', [
  ...(['none', 'lzw', 'deflate', 'packbits'] as const).map((compression): Golden => ({
    name: compression,
    file: photo().tiff({ compression }).toBuffer(),
    notes: [/decoded from TIFF/],
  })),
  {
    name: 'predictor and tiles',
    file: photo()
      .tiff({ compression: 'lzw', predictor: 'horizontal', tile: true, tileWidth: 16, tileHeight: 16 })
      .toBuffer(),
    notes: [/TIFF/],
  },
  { name: 'BigTIFF', file: photo().tiff({ compression: 'none', bigtiff: true }).toBuffer(), notes: [/TIFF/] },
  {
    name: 'JPEG inside',
    file: photo().tiff({ compression: 'jpeg', quality: 95 }).toBuffer(),
    within: 90,
    mean: 9,
    notes: [/TIFF/],
  },
  {
    name: '16-bit RGB',
    file: sharp(
      Uint16Array.from(source, (value) => value * 257),
      { raw: { width, height, channels: 3 } },
    )
      .toColourspace('rgb16')
      .tiff({ compression: 'none' })
      .toBuffer(),
    notes: [/TIFF/, /8 bits/],
  },
  {
    name: 'CMYK',
    file: photo().toColourspace('cmyk').tiff({ compression: 'none' }).toBuffer(),
    within: 100,
    mean: 12,
    notes: [/TIFF/, /CMYK/],
  },
  {
    name: 'Lab',
    file: photo().toColourspace('lab').tiff({ compression: 'none' }).toBuffer(),
    within: 12,
    mean: 2,
    notes: [/TIFF/, /Lab/],
  },
]);

golden('colour: profiles are applied by their content, not their name', [
  {
    name: 'linear light',
    file: withProfile(baseline, makeProfile({ gamma: 1 })),
    expected: (await ofJpeg(baseline)).map(encodeSrgb),
    within: 3,
    notes: [/colour profile to sRGB/],
  },
  {
    name: 'linear light named sRGB',
    file: withProfile(baseline, makeProfile({ gamma: 1, name: 'sRGB IEC61966-2.1' })),
    expected: (await ofJpeg(baseline)).map(encodeSrgb),
    within: 3,
    notes: [/colour profile to sRGB/],
  },
  {
    name: 'green for red',
    file: withProfile(
      baseline,
      makeProfile({ gamma: 2.2, primaries: [SRGB_PRIMARIES[1]!, SRGB_PRIMARIES[0]!, SRGB_PRIMARIES[2]!] }),
    ),
    expected: swapRedAndGreen(await ofJpeg(baseline)),
    within: 12,
    notes: [/colour profile to sRGB/],
  },
  { name: 'sRGB', file: photo().withIccProfile('srgb').png().toBuffer() },
  {
    name: 'sRGB under another name',
    file: withProfile(baseline, srgbProfile('display 7')),
    expected: await ofJpeg(baseline),
  },
  {
    name: 'an invalid profile',
    file: withProfile(baseline, Buffer.alloc(400, 7)),
    expected: await ofJpeg(baseline),
    notes: [/cannot be read: treated as sRGB/],
  },
  {
    name: 'Adobe CMYK JPEG',
    file: photo().toColourspace('cmyk').jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer(),
    within: 100,
    mean: 14,
    notes: [/CMYK/],
  },
]);

// sharp's animation encoders always declare transparency.
golden('the first of several frames or pages, with a note', [
  {
    name: 'animated WebP',
    file: animated((joined) => joined.webp({ lossless: true })),
    notes: [/alpha/, /first of 2 frames/],
  },
  {
    name: 'animated GIF',
    file: animated((joined) => joined.gif({ dither: 0 }), threeColours(), threeColours(1)),
    expected: threeColours(),
    within: 8,
    notes: [/GIF/, /alpha/, /first of 2 frames/],
  },
  {
    name: 'animated PNG',
    file: makeAnimatedPng(
      { width, height, depth: 8, colour: 2, samples: source },
      { width, height, depth: 8, colour: 2, samples: other },
    ),
    notes: [/first of 2 frames/],
  },
  {
    name: 'TIFF of two pages',
    file: animated((joined) => joined.tiff({ compression: 'none' })),
    notes: [/TIFF/, /first of 2 frames/],
  },
]);

t.test('every EXIF orientation is applied, in every format that carries one', async (t) => {
  const upright: Record<number, (x: number, y: number) => [x: number, y: number]> = {
    1: (x, y) => [x, y],
    2: (x, y) => [width - 1 - x, y],
    3: (x, y) => [width - 1 - x, height - 1 - y],
    4: (x, y) => [x, height - 1 - y],
    5: (x, y) => [y, x],
    6: (x, y) => [y, height - 1 - x],
    7: (x, y) => [width - 1 - y, height - 1 - x],
    8: (x, y) => [width - 1 - y, x],
  };
  const formats: [string, (image: Sharp) => Sharp][] = [
    ['jpeg', (image) => image.jpeg({ quality: 95 })],
    ['png', (image) => image.png()],
    ['webp', (image) => image.webp({ lossless: true })],
    ['tiff', (image) => image.tiff({ compression: 'none' })],
  ];
  for (const [format, encode] of formats) {
    const still = await sharp(await encode(photo()).toBuffer())
      .raw()
      .toBuffer();
    for (const [orientation, whence] of Object.entries(upright)) {
      const { image, pixels } = await prepare(
        t,
        await encode(photo().withMetadata({ orientation: Number(orientation) })).toBuffer(),
      );
      const [columns, rows] = Number(orientation) >= 5 ? [height, width] : [width, height];
      const expected = Buffer.from(
        Array.from({ length: columns * rows }, (_, index) => {
          const [x, y] = whence(index % columns, Math.floor(index / columns));
          return [...still.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];
        }).flat(),
      );
      t.match(image.info, { width: columns, height: rows });
      t.equal(difference(pixels, expected).largest, 0, `${format}, orientation ${orientation}`);
      t.equal(
        image.info.notes.some((note) => note === `rotated upright (EXIF orientation ${orientation})`),
        orientation !== '1',
        `${format} ${orientation}: ${image.info.notes.join('; ')}`,
      );
    }
  }
});

t.test('an orientation is applied once in AVIF, which rotates by itself', async (t) => {
  const { image, pixels } = await prepare(
    t,
    await photo().withMetadata({ orientation: 6 }).avif({ quality: 95, effort: 0 }).toBuffer(),
  );
  const turned = await photo().rotate(90).raw().toBuffer();
  const asStored = difference(pixels, source).mean;
  t.ok(image.info.width === height ? difference(pixels, turned).mean < 6 : asStored < 6, JSON.stringify(image.info));
});

function overWhite(value: number, alpha: number): number {
  return Math.round(value * alpha + 255 * (1 - alpha));
}

async function greyOf(): Promise<Buffer> {
  const grey = await photo().toColourspace('b-w').raw().toBuffer();
  return rgb((index) => Array<number>(3).fill(grey[index]!));
}

function paletteCase(name: string, transparent: boolean): Golden {
  const palette = Buffer.from([200, 30, 40, 20, 180, 60, 10, 20, 230, 250, 240, 10]);
  const alphas = [255, 128, 0, 64];
  return {
    name,
    notes: transparent ? [/alpha/] : [],
    within: 1,
    file: makePng({
      width,
      height,
      depth: 2,
      colour: 3,
      samples: Array.from({ length: width * height }, (_, index) => index % 4),
      palette,
      ...(transparent ? { transparency: Buffer.from(alphas) } : {}),
    }),
    expected: rgb((index) =>
      [0, 1, 2].map((channel) =>
        overWhite(palette[3 * (index % 4) + channel]!, transparent ? alphas[index % 4]! / 255 : 1),
      ),
    ),
  };
}

/** Stripes that a palette holds without loss. */
function threeColours(shift = 0): Buffer {
  const colours = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ];
  return rgb((index) => colours[(Math.floor((index % width) / 16) + shift) % 3]!);
}

async function animated(
  encode: (joined: Sharp) => Sharp,
  first: Buffer = source,
  second: Buffer = other,
): Promise<Buffer> {
  const frames = await Promise.all([first, second].map((pixels) => photo(pixels).png().toBuffer()));
  return encode(sharp(frames, { join: { animated: true } })).toBuffer();
}

/** IEC 61966-2-1: of linear light from 0 to 255. */
function encodeSrgb(value: number): number {
  const linear = value / 255;
  return Math.round(255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055));
}

function swapRedAndGreen(pixels: Buffer): Buffer {
  return Buffer.from(
    pixels.map((_, index) => pixels[index % 3 === 2 ? index : index % 3 === 0 ? index + 1 : index - 1]!),
  );
}

/** sRGB's numbers with a table for its curve, as version 2 profiles have it. */
function srgbProfile(name: string): Buffer {
  const profile = makeProfile({ gamma: 2.2, name });
  const table = Buffer.alloc(12 + 2 * 256);
  table.write('curv', 'latin1');
  table.writeUInt32BE(256, 8);
  for (let index = 0; index < 256; index += 1) {
    const value = index / 255;
    table.writeUInt16BE(
      Math.round(65_535 * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)),
      12 + 2 * index,
    );
  }
  const grown = Buffer.concat([profile, table]);
  grown.writeUInt32BE(grown.length, 0);
  for (const tag of ['rTRC', 'gTRC', 'bTRC']) {
    const row = grown.indexOf(tag, 132, 'latin1');
    grown.writeUInt32BE(profile.length, row + 4);
    grown.writeUInt32BE(table.length, row + 8);
  }
  return grown;
}
