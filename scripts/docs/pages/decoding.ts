// Generates docs/decoding.md from the tables of the decoding policy.
import { DEVIATIONS, UNSUPPORTED_PIXELS, PASSTHROUGH_FORMATS } from '../../../src/images/policy.ts';
import { UNSUPPORTED_FORMATS } from '../../../src/images/formats/unsupported.ts';
import { FORMATS, type ImageFormat } from '../../../src/images/formats/sniff.ts';
import { generatedNote } from '../page.ts';

const VARIANTS: Record<ImageFormat, string> = {
  jpeg: 'baseline and progressive; grey, YCbCr, RGB and CMYK (including inverted Adobe CMYK)',
  png: 'all bit depths and colour types, interlaced; the first frame of an animation',
  webp: 'lossy and lossless; the first frame of an animation',
  avif: 'still images, and the primary still of a sequence',
  tiff: 'BigTIFF, strips and tiles, all common compressions, 1 to 16 bits, grey, RGB, CMYK, Lab; the first page',
  bmp: '1, 2, 4, 8, 16, 24 and 32 bits, RLE4 and RLE8, bit fields, top-down rows, headers from OS/2 to version 5 with its profile',
  gif: 'the first frame of an animation',
};

export function decodingPage(): string {
  const formats = Object.entries(FORMATS).map(([name, extensions]) => {
    const format = name as ImageFormat;
    return `| ${name.toUpperCase()} | ${extensions.join(' ')} | ${VARIANTS[format]} | ${PASSTHROUGH_FORMATS.includes(format) ? 'unchanged' : 'decoded to PNG'} |`;
  });
  const deviations = DEVIATIONS.map(
    ({ condition, action, reencodes }) => `| ${condition} | ${action} | ${reencodes ? 'PNG' : 'unchanged'} |`,
  );
  const pixels = UNSUPPORTED_PIXELS.map(({ condition, expected }) => `| ${condition} | expected: ${expected} |`);
  const refused = UNSUPPORTED_FORMATS.map(({ name, advice }) => `| ${name} | ${advice} |`);
  return [
    generatedNote('src/images/policy.ts and src/images/formats'),
    '# What happens to a file before it is measured',
    '',
    'The service measures what a colour-managed viewer would show on an sRGB screen: 8 bits, three channels, upright. The bytes of a file decide its',
    'format, never its name or the declared content type. Every change is listed in `image.notes`.',
    '',
    '## Accepted',
    '',
    '| format | extensions | variants | sent to the tools |',
    '| --- | --- | --- | --- |',
    ...formats,
    '',
    '"Unchanged" means the same coded pixels. EXIF (including GPS), XMP, IPTC, text chunks, previews, profiles, private chunks and all bytes after the',
    'end of the image are removed: they are never forwarded, stored, logged or returned.',
    '',
    '## Conversions',
    '',
    'Each conversion adds one note to the answer.',
    '',
    '| the file has | conversion | sent to the tools |',
    '| --- | --- | --- |',
    ...deviations,
    '| a reference of another size | 422 that names both sizes; with `align=resize` resized (Lanczos) to the image | PNG |',
    '',
    'A colour profile counts as sRGB if its primaries and curves match, whatever its name says. JPEG quality is read from the quantisation tables of the original.',
    '',
    '## Refused',
    '',
    'Pixel formats (415):',
    '',
    '| the file has | |',
    '| --- | --- |',
    ...pixels,
    '',
    'File formats (415):',
    '',
    '| received | what to do |',
    '| --- | --- |',
    ...refused,
    '',
    'Any other file, and every file that is truncated, inconsistent or damaged, is 422. Files with too many pixels or bytes are 413. Nothing is decoded',
    'before its header is known to be within the limits.',
    '',
    '## What is not detected',
    '',
    '- A JPEG with a few altered bytes in its coded pixels: decoders resynchronise. Of files with 600 damaged bytes 94 % are detected, with 30 bytes',
    '  about half, with one byte a fifth (LIVE Challenge photos, 2026-11-17). Lossy WebP and AVIF have no checksums either.',
    '- A profile that only names an external file, and the `gAMA`, `cHRM` and `cICP` chunks of PNG, are ignored.',
    '',
  ].join('\n');
}
