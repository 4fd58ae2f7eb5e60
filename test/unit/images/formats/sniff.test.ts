// Files are identified by their bytes: accepted formats, and known unsupported ones with advice.
import t from 'tap';
import sharp from 'sharp';
import { FORMATS, sniff } from '../../../../src/images/formats/sniff.ts';
import { UNSUPPORTED_FORMATS } from '../../../../src/images/formats/unsupported.ts';
import { makeBmp } from '../../../support/images/bmp-files.ts';
import { makeImage } from '../../../support/images/images.ts';

const photo = () => makeImage({ width: 32, height: 32 });
const iso = (major: string, ...compatible: string[]) => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(16 + 4 * compatible.length);
  return Buffer.concat([size, Buffer.from(`ftyp${major}\0\0\0\0${compatible.join('')}`, 'latin1')]);
};
/** A TIFF header followed by one directory. */
const tiff = (...tags: [tag: number, value: number][]) => {
  const entry = ([tag, value]: [number, number]) => [tag & 255, tag >> 8, 4, 0, 1, 0, 0, 0, value, 0, 0, 0];
  return Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0, tags.length, 0, ...tags.flatMap(entry), 0, 0, 0, 0]);
};

t.test('every accepted format is identified by its bytes, and has its extensions', async (t) => {
  const files = {
    jpeg: await photo().jpeg().toBuffer(),
    png: await photo().png().toBuffer(),
    webp: await photo().webp().toBuffer(),
    avif: await photo().avif({ effort: 0 }).toBuffer(),
    tiff: await photo().tiff().toBuffer(),
    bmp: makeBmp({ width: 2, height: 2, pixels: Buffer.alloc(12) }),
    gif: await photo().gif().toBuffer(),
  };
  t.strictSame(Object.keys(files).sort(), Object.keys(FORMATS).sort());
  for (const [format, file] of Object.entries(files)) t.strictSame(sniff(file), { format });
  for (const [format, extensions] of Object.entries(FORMATS))
    t.ok(
      extensions.some((extension) => `.${format}`.startsWith(extension.slice(0, 4))),
      format,
    );
  t.strictSame(sniff(await sharp(files.png).tiff({ bigtiff: true }).toBuffer()), { format: 'tiff' });
  t.strictSame(sniff(iso('mif1', 'avif', 'miaf')), { format: 'avif' }, 'by a compatible brand');
});

t.test('known unsupported formats have a name and advice', async (t) => {
  const tar = Buffer.alloc(512);
  tar.write('ustar', 257, 'latin1');
  const dicom = Buffer.alloc(200);
  dicom.write('DICM', 128, 'latin1');
  const metafile = Buffer.alloc(60);
  metafile[0] = 1;
  metafile.write(' EMF', 40, 'latin1');
  const program = Buffer.alloc(100);
  program.write('MZ', 'latin1');
  const cases: [string | Buffer, string][] = [
    [iso('heic', 'mif1'), 'HEIC'],
    [iso('mif1', 'heic'), 'HEIC'],
    [iso('heix'), 'HEIC'],
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'SVG or other markup'],
    ['  <?xml version="1.0"?><svg/>', 'SVG or other markup'],
    ['\xef\xbb\xbf<!DOCTYPE html>', 'SVG or other markup'],
    ['\xff\xfe<\0s\0v\0g\0', 'SVG or other markup'],
    ['<!-- x --><svg/>', 'SVG or other markup'],
    ['%PDF-1.4', 'PDF'],
    ['%!PS-Adobe', 'PostScript'],
    ['PK\x03\x04', 'a ZIP archive or an office document'],
    ['PK\x05\x06', 'a ZIP archive or an office document'],
    ['\x1f\x8b\x08', 'a gzip file'],
    ['7z\xbc\xaf\x27\x1c', 'a 7z archive'],
    ['Rar!\x1a\x07', 'a RAR archive'],
    [tar, 'a tar archive'],
    ['\xfd7zXZ\0', 'an xz file'],
    ['(\xb5/\xfd', 'a Zstandard file'],
    ['BZh91AY&SY', 'a bzip2 file'],
    ['\x04"M\x18', 'an archive'],
    ['LZIP\x01', 'an archive'],
    ['\xff\x0a\0', 'JPEG XL'],
    ['\0\0\0\x0cJXL \r\n\x87\n', 'JPEG XL'],
    ['\0\0\0\x0cjP  \r\n', 'JPEG 2000'],
    ['\xff\x4f\xff\x51', 'JPEG 2000'],
    ['II\xbc\x01', 'JPEG XR'],
    ['8BPS\0\x01', 'a Photoshop document'],
    ['gimp xcf v', 'a GIMP document'],
    ['\0\0\x01\0\x01\0', 'an icon or cursor'],
    ['II*\0\x10\0\0\0CR\x02\0', 'a camera raw file'],
    ['FUJIFILMCCD-RAW 0201', 'a camera raw file'],
    [iso('crx ', 'isom'), 'a camera raw file'],
    ['IIRO\x08\0', 'a camera raw file'],
    [tiff([254, 1], [330, 0]), 'a camera raw file'],
    [tiff([254, 0], [50_706, 1]), 'a camera raw file'],
    ['v/1\x01', 'OpenEXR'],
    ['#?RADIANCE\n', 'Radiance HDR'],
    ['P6\n2 2\n255\n', 'a Netpbm image'],
    [dicom, 'DICOM'],
    ['SIMPLE  =  T', 'FITS'],
    ['DDS |', 'DDS'],
    ['qoif', 'QOI'],
    ['FLIF44', 'FLIF'],
    ['BPG\xfb', 'BPG'],
    ['AT&TFORM', 'DjVu'],
    ['\xd7\xcd\xc6\x9a', 'a Windows metafile'],
    [metafile, 'a Windows metafile'],
    ['\x8aMNG\r\n', 'an animated MNG or JNG'],
    ['RIFF\0\0\0\0WAVEfmt ', 'audio'],
    ['ID3\x04', 'audio'],
    [iso('isom', 'mp42'), 'a video'],
    [iso('qt  '), 'a video'],
    ['\x1a\x45\xdf\xa3', 'a video'],
    ['RIFF\0\0\0\0AVI LIST', 'a video'],
    [program, 'a program'],
    ['\x7fELF\x02', 'a program'],
    ['#!/bin/sh\n', 'a program'],
  ];
  const named = new Set<string>();
  for (const [file, name] of cases) {
    named.add(name);
    t.match(
      sniff(Buffer.isBuffer(file) ? file : Buffer.from(file, 'latin1')),
      { unsupported: name, advice: /^[A-Z].*[^.]$/ },
      `${name}: ${file.toString('latin1').slice(0, 12)}`,
    );
  }
  t.strictSame(
    UNSUPPORTED_FORMATS.map(({ name }) => name).filter((name) => !named.has(name)),
    [],
    'every entry is covered',
  );
});

t.test('unknown bytes are not guessed at', async (t) => {
  for (const text of [
    '',
    'x',
    'plain text',
    'BM',
    'BM123456',
    'RIFF\0\0\0\0xxxx',
    'MZ',
    'BZh',
    tiff().toString('latin1', 0, 3),
  ])
    t.equal(sniff(Buffer.from(text, 'latin1')), null, text);
  t.strictSame(sniff(tiff([254, 1])), { format: 'tiff' }, 'a thumbnail alone is an image');
});
