// Good images in every format, small and rich in structure: what the hostile files are made from.
import sharp, { type Sharp } from 'sharp';
import { makeBmp } from '../../support/images/bmp-files.ts';
import { makeImage } from '../../support/images/images.ts';
import { makePng, pngChunk, withChunk } from '../../support/images/png-files.ts';

const [width, height] = [64, 48];

export type BaseFiles = Awaited<ReturnType<typeof makeBaseFiles>>;

export async function makeBaseFiles() {
  const pixels = await makeImage({ width, height }).raw().toBuffer();
  const other = await makeImage({ width, height, seed: 2 }).png().toBuffer();
  const image = (): Sharp => sharp(pixels, { raw: { width, height, channels: 3 } });
  const telling = (): Sharp =>
    image()
      .withExif({ IFD0: { Artist: 'nobody' }, IFD3: { GPSLatitude: '52/1 31/1 12/1' } })
      .withIccProfile('p3')
      .keepXmp();
  const frames = async (encode: (joined: Sharp) => Sharp) =>
    encode(sharp([await image().png().toBuffer(), other], { join: { animated: true } })).toBuffer();
  const png = await image().png().toBuffer();
  const palette = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 0],
  ];
  const striped = Buffer.from(
    Array.from({ length: width * height }, (_, index) => palette[Math.floor((index % width) / 16)]!).flat(),
  );
  return {
    'baseline.jpg': await image().jpeg().toBuffer(),
    'progressive.jpg': await telling().jpeg({ progressive: true }).toBuffer(),
    'cmyk.jpg': await image().toColourspace('cmyk').jpeg().toBuffer(),
    'plain.png': withChunk(png, pngChunk('pHYs', Buffer.alloc(9, 1)), pngChunk('tEXt', Buffer.from('Title\0none'))),
    'profile.png': await telling().png().toBuffer(),
    'palette.png': makePng({
      width,
      height,
      depth: 2,
      colour: 3,
      samples: Array.from({ length: width * height }, (_, index) => index % 4),
      palette: Buffer.from(palette.flat()),
      transparency: Buffer.from([255, 128, 0]),
    }),
    'lossy.webp': await image().webp().toBuffer(),
    'lossless.webp': await image().webp({ lossless: true }).toBuffer(),
    'extended.webp': await telling().webp().toBuffer(),
    'animated.webp': await frames((joined) => joined.webp()),
    'still.avif': await image().avif({ effort: 0 }).toBuffer(),
    'lzw.tiff': await image().tiff({ compression: 'lzw' }).toBuffer(),
    'tiles.tiff': await telling()
      .tiff({ compression: 'deflate', tile: true, tileWidth: 16, tileHeight: 16 })
      .toBuffer(),
    'animated.gif': await frames((joined) => joined.gif()),
    'plain.bmp': makeBmp({ width, height, pixels }),
    'runs.bmp': makeBmp({ width, height, pixels: striped, palette, bits: 8, coding: 'rle' }),
    'fields.bmp': makeBmp({
      width,
      height,
      pixels,
      bits: 32,
      coding: 'bitfields',
      header: 'v5',
      masks: [0xff0000, 0xff00, 0xff, 0xff000000],
      alpha: Buffer.alloc(width * height, 200),
    }),
  };
}
