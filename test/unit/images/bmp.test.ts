// The BMP decoder: every header, depth and encoding against known pixels, and every inconsistent header refused.
import t from 'tap';
import { makeBmp, type BmpOptions } from '../../support/images/bmp-files.ts';
import { makeProfile, SRGB_PRIMARIES } from '../../support/images/metadata-blocks.ts';
import { makeImage } from '../../support/images/images.ts';
import { difference, prepare } from '../../support/images/prepared.ts';

// An odd width: rows are padded.
const [width, height] = [37, 21];
const photo = await makeImage({ width, height }).raw().toBuffer();
const colours = (count: number): number[][] =>
  Array.from({ length: count }, (_, index) => [(index * 37) % 256, (index * 91) % 256, (index * 151) % 256]);
/** Areas of one colour and areas of change: both kinds of run. */
const stripes = (palette: number[][]): Buffer =>
  Buffer.from(
    Array.from({ length: width * height }, (_, index) => {
      const [column, row] = [index % width, Math.floor(index / width)];
      return palette[(column < 20 ? row : column * 3 + row) % palette.length]!;
    }).flat(),
  );

t.test('every header, depth and encoding gives the pixels that were written', async (t) => {
  const indexed = (
    bits: 1 | 2 | 4 | 8,
    more: Partial<BmpOptions> = {},
    count = 2 ** bits,
  ): [string, BmpOptions, number] => {
    const palette = colours(count);
    return [
      `${bits} bits ${JSON.stringify(more)}`,
      { width, height, pixels: stripes(palette), palette, bits, ...more },
      0,
    ];
  };
  const direct = (bits: 16 | 24 | 32, within: number, more: Partial<BmpOptions> = {}): [string, BmpOptions, number] => [
    `${bits} bits ${JSON.stringify(more)}`,
    { width, height, pixels: photo, bits, ...more },
    within,
  ];
  const cases = [
    indexed(1),
    indexed(2),
    indexed(4),
    indexed(8),
    indexed(8, {}, 100),
    indexed(1, { topDown: true }),
    indexed(4, { topDown: true }),
    indexed(8, { topDown: true }),
    indexed(1, { header: 'core' }),
    indexed(4, { header: 'core' }),
    indexed(8, { header: 'core' }),
    indexed(8, { header: 'os2' }),
    indexed(8, { header: 'v4' }),
    indexed(8, { header: 'v5' }),
    indexed(4, { coding: 'rle' }),
    indexed(8, { coding: 'rle' }),
    indexed(8, { coding: 'rle', header: 'v5' }),
    indexed(8, { coding: 'rle' }, 30),
    direct(24, 0),
    direct(24, 0, { topDown: true }),
    direct(24, 0, { header: 'core' }),
    direct(24, 0, { header: 'os2' }),
    direct(24, 0, { header: 'v4' }),
    direct(24, 0, { header: 'v5' }),
    direct(32, 0),
    direct(32, 0, { topDown: true }),
    direct(32, 0, { coding: 'bitfields', masks: [0xff, 0xff00, 0xff0000, 0] }),
    direct(32, 0, { coding: 'bitfields', masks: [0xff000000, 0xff0000, 0xff00, 0] }),
    direct(32, 1, { coding: 'bitfields', masks: [0x3ff00000, 0xffc00, 0x3ff, 0], header: 'v4' }),
    // Half a step of 31, 63 and 15 levels.
    direct(16, 5),
    direct(16, 5, { topDown: true }),
    direct(16, 5, { coding: 'bitfields', masks: [0xf800, 0x7e0, 0x1f, 0] }),
    direct(16, 9, { coding: 'bitfields', masks: [0xf00, 0xf0, 0xf, 0], header: 'v5' }),
  ];
  for (const [name, options, within] of cases) {
    const { image, pixels } = await prepare(t, makeBmp(options));
    t.match(image.info, { format: 'bmp', width, height, notes: ['decoded from BMP'] });
    t.ok(
      difference(pixels, options.pixels).largest <= within,
      `${name}: ${JSON.stringify(difference(pixels, options.pixels))}`,
    );
  }
});

t.test('alpha is flattened onto white; an alpha channel of zeros is ignored', async (t) => {
  const masks: [number, number, number, number] = [0xff0000, 0xff00, 0xff, 0xff000000];
  const alpha = Buffer.from(Array.from({ length: width * height }, (_, index) => index % 256));
  const { image, pixels } = await prepare(
    t,
    makeBmp({ width, height, pixels: photo, bits: 32, coding: 'bitfields', header: 'v5', masks, alpha }),
  );
  const expected = photo.map((value, index) =>
    Math.round((value * alpha[Math.floor(index / 3)]! + 255 * (255 - alpha[Math.floor(index / 3)]!)) / 255),
  );
  t.ok(difference(pixels, expected).largest <= 1);
  t.match(image.info.notes, ['decoded from BMP', /alpha/]);
  const unused = await prepare(
    t,
    makeBmp({
      width,
      height,
      pixels: photo,
      bits: 32,
      coding: 'bitfields',
      header: 'v5',
      masks,
      alpha: Buffer.alloc(width * height),
    }),
  );
  t.equal(difference(unused.pixels, photo).largest, 0);
  t.strictSame(unused.image.info.notes, ['decoded from BMP']);
});

t.test('an embedded profile is applied', async (t) => {
  const profile = makeProfile({ gamma: 2.2, primaries: [SRGB_PRIMARIES[1]!, SRGB_PRIMARIES[0]!, SRGB_PRIMARIES[2]!] });
  const { image, pixels } = await prepare(t, makeBmp({ width, height, pixels: photo, header: 'v5', profile }));
  const swapped = Buffer.from(
    photo.map((_, index) => photo[index % 3 === 2 ? index : index % 3 === 0 ? index + 1 : index - 1]!),
  );
  t.ok(difference(pixels, swapped).largest <= 12, JSON.stringify(difference(pixels, swapped)));
  t.match(image.info.notes, ['decoded from BMP', /colour profile to sRGB/]);
});

t.test('run-length codes may skip pixels and omit the end marker, but not extend beyond the image', async (t) => {
  const palette = colours(4);
  const options: BmpOptions = {
    width: 4,
    height: 3,
    pixels: Buffer.from(Array.from({ length: 12 }, () => palette[1]!).flat()),
    palette,
    bits: 8,
    coding: 'rle',
  };
  const whole = makeBmp(options);
  const withCodes = (...codes: number[]): Buffer =>
    Buffer.concat([whole.subarray(0, whole.readUInt32LE(10)), Buffer.from(codes)]);
  const skipping = await prepare(t, withCodes(1, 2, 0, 2, 2, 1, 1, 3, 0, 1));
  const at = (x: number, row: number) => [...skipping.pixels.subarray(3 * (row * 4 + x), 3 * (row * 4 + x) + 3)];
  t.strictSame([at(0, 2), at(3, 1), at(0, 0)], [palette[2], palette[3], palette[0]]);
  t.equal((await prepare(t, withCodes(4, 1, 0, 0, 4, 1, 0, 0, 4, 1))).image.info.width, 4, 'no end marker');
  for (const [codes, why] of [
    [[5, 1, 0, 1], /extends beyond the image/],
    [[4, 1, 4, 1, 0, 1], /extends beyond the image/],
    [[0, 2, 0, 9, 1, 1, 0, 1], /extends beyond the image/],
    [[0, 5, 1, 1, 1, 1, 1, 0, 0, 1], /extends beyond the image/],
    [[4, 1, 0, 0, 4, 1], /ends before the image/],
    [[0, 4, 1, 1], /ends before/],
    [[4], /ends before/],
    [[4, 9, 0, 1], /uses colour 9 of a palette of 4/],
  ] as const)
    await t.rejects(prepare(t, withCodes(...codes)), { code: 'IQA_INPUT_IMAGE', message: why }, codes.join());
});

t.test('inconsistent headers are refused with the reason, before any memory is allocated', async (t) => {
  const good = makeBmp({ width, height, pixels: photo });
  const changed = (at: number, value: number, bytes: 2 | 4 = 4): Buffer => {
    const copy = Buffer.from(good);
    if (bytes === 2) copy.writeUInt16LE(value, at);
    else copy.writeUInt32LE(value >>> 0, at);
    return copy;
  };
  const widened = makeBmp({
    width,
    height,
    pixels: photo,
    bits: 16,
    coding: 'bitfields',
    masks: [0xf800, 0x7e0, 0x1f, 0],
  });
  widened.writeUInt32LE(0x1f0000, 54);
  const paletted = makeBmp({ width, height, pixels: stripes(colours(256)), palette: colours(256), bits: 8 });
  paletted.writeUInt32LE(300, 46);
  const cases: [string, Buffer, RegExp, string?][] = [
    ['no width', changed(18, 0), /0 × 21/],
    ['negative width', changed(18, -37), /-37 × 21/],
    ['no height', changed(22, 0), /37 × 0/],
    ['the smallest integer', changed(22, 0x80000000), /pixels$/],
    ['too many pixels', changed(22, 2_000_000), /at most 50 megapixels/, 'IQA_INPUT_TOO_LARGE'],
    ['more rows than there are', changed(22, 22), /ends before the image/],
    ['two planes', changed(26, 2, 2), /2 planes/],
    ['7 bits', changed(28, 7, 2), /7 bits per pixel/],
    ['JPEG inside', changed(30, 4), /its compression/],
    ['run lengths of 24 bits', changed(30, 1), /its compression/],
    ['pixels inside the header', changed(10, 20), /are not where/],
    ['pixels behind the end', changed(10, 1e9), /are not where/],
    ['a header of 39 bytes', changed(14, 39), /39 bytes/],
    ['cut in its header', good.subarray(0, 30), /ends inside its header/],
    ['cut in its pixels', good.subarray(0, good.length - 1), /ends before the image/],
    [
      'masks that overlap',
      makeBmp({ width, height, pixels: photo, bits: 32, coding: 'bitfields', masks: [0xff00, 0xff00, 0xff, 0] }),
      /overlap/,
    ],
    [
      'masks with holes',
      makeBmp({ width, height, pixels: photo, bits: 32, coding: 'bitfields', masks: [0xf0f0000, 0xff00, 0xff, 0] }),
      /masks are not contiguous/,
    ],
    ['masks wider than pixels', widened, /masks are not contiguous/],
    ['palettes of 300 colours', paletted, /300 colours/],
  ];
  for (const [name, file, why, code = 'IQA_INPUT_IMAGE'] of cases)
    await t.rejects(prepare(t, file), { code, message: why }, name);
});
