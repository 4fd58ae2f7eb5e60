// Makes docs/decoding.md from the decoding policy's own tables.
import { DEVIATIONS, REFUSED_PIXELS, SENT_AS_THEY_ARE } from '../src/images/policy.ts';
import { REFUSED_FORMATS } from '../src/images/formats/unsupported.ts';
import { FORMATS, type ImageFormat } from '../src/images/formats/sniff.ts';

const VARIANTS: Record<ImageFormat, string> = {
  jpeg: "baseline and progressive; grey, YCbCr, RGB and CMYK (Adobe's inverted one too)",
  png: 'all depths and colour types, interlaced; of an animation the first frame',
  webp: 'lossy and lossless; of an animation the first frame',
  avif: 'still pictures, and the still that a sequence names as its own',
  tiff: 'BigTIFF, strips and tiles, all common compressions, 1 to 16 bits, grey, RGB, CMYK, Lab; of several pages the first',
  bmp: '1, 2, 4, 8, 16, 24 and 32 bits, RLE4 and RLE8, bit fields, top-down rows, headers from OS/2 to version 5 with its profile',
  gif: 'of an animation the first frame',
};

export function decodingPage(): string {
  const formats = Object.entries(FORMATS).map(([name, extensions]) => {
    const format = name as ImageFormat;
    return `| ${name.toUpperCase()} | ${extensions.join(' ')} | ${VARIANTS[format]} | ${SENT_AS_THEY_ARE.includes(format) ? 'as it is' : 'decoded to PNG'} |`;
  });
  const deviations = DEVIATIONS.map(
    ({ has, isDone, reencodes }) => `| ${has} | ${isDone} | ${reencodes ? 'PNG' : 'as it is'} |`,
  );
  const pixels = REFUSED_PIXELS.map(({ has, expected }) => `| ${has} | expected: ${expected} |`);
  const refused = REFUSED_FORMATS.map(({ name, advice }) => `| ${name} | ${advice} |`);
  return [
    '# What happens to a file before it is measured',
    '',
    'Measured is what a careful viewer would show on a plain sRGB screen: 8 bits, three channels, upright. The bytes of a file decide what it is, never',
    'its name or the declared content type. Whatever is changed on the way is said in `image.notes`.',
    '',
    '## Accepted',
    '',
    '| format | extensions ¹ | read | sent to the tools |',
    '| --- | --- | --- | --- |',
    ...formats,
    '',
    '¹ Of a path given to the library; uploads need none.',
    '',
    '"As it is" means the same coded pixels. EXIF (GPS included), XMP, IPTC, texts, previews, profiles, private chunks and everything after the end of',
    'the picture stay behind: they are never sent on, stored, logged or returned, and a second file that was hung on goes no further.',
    '',
    '## What is done',
    '',
    'Each of these is one note of the answer.',
    '',
    '| the file has | what is done | sent to the tools |',
    '| --- | --- | --- |',
    ...deviations,
    '| a reference of another size | 422 that names both sizes; with `align=resize` resized (Lanczos) to the image | PNG |',
    '',
    'A colour profile counts as sRGB by its primaries and curves, whatever its name says. JPEG quality is read from the tables of the original.',
    '',
    '## Refused',
    '',
    'Pixels (415):',
    '',
    '| the file has | |',
    '| --- | --- |',
    ...pixels,
    '',
    'Files (415):',
    '',
    '| received | what to do |',
    '| --- | --- |',
    ...refused,
    '',
    'Anything else, and every file that is cut off, contradicts itself or is damaged, is 422; more pixels or bytes than allowed are 413. Nothing is decoded',
    'before its header was found within the limits.',
    '',
    '## What is not found',
    '',
    '- A JPEG whose coded pixels were altered in a few bytes: decoders fall into step again. Of 600 damaged bytes 47 in 50 are found, of 30 bytes about half,',
    '  of a single one a fifth (LIVE Challenge photos, 2026-11-17). Lossy WebP and AVIF have no check sums either.',
    "- A profile that only names a file beside the picture, and PNG's `gAMA`, `cHRM` and `cICP`, are left aside.",
    '',
  ].join('\n');
}
