// Known but unsupported file formats, each with advice for the sender.
import { ascii, both, brand, bytes, either, readFirstDirectory, majorBrand, type Matcher } from './signatures.ts';

interface UnsupportedFormat {
  name: string;
  advice: string;
  matches: Matcher;
}

const CONVERT = 'Convert it to JPEG or PNG';
const DEVELOP = 'Develop it to JPEG, PNG or TIFF first: a raw file holds sensor readings, not an image';
const UNPACK = 'Unpack it and send the image itself';
const STILL = 'Send a single frame as JPEG or PNG';
const RENDER = 'Render it to PNG first: quality is measured on pixels';

const riff = (kind: string): Matcher => both(ascii('RIFF'), ascii(kind, 8));
const isIsoMedia = ascii('ftyp', 4);
const DNG_VERSION = 50_706;
const SUBFILE_TYPE = 254;
const SUB_DIRECTORIES = 330;

/** DNG, NEF, ARW and others: TIFF files whose first directory is only a thumbnail. */
const isRawTiff: Matcher = (head) => {
  const tags = readFirstDirectory(head);
  return tags.has(DNG_VERSION) || (tags.has(SUB_DIRECTORIES) && ((tags.get(SUBFILE_TYPE) ?? 0) & 1) === 1);
};

const isMarkup: Matcher = (head) =>
  /^(\ufeff|\xef\xbb\xbf)?\s*<(\?xml|svg|!doctype|!--|html|script|body)/i.test(head.toString('latin1', 0, 512)) ||
  // UTF-16, with and without a byte order mark.
  /^(\xff\xfe|\xfe\xff)?\0?<\0?(\?|s|!|h)\0?(x|v|d|-|t)/i.test(head.toString('latin1', 0, 12));

export const UNSUPPORTED_FORMATS: readonly UnsupportedFormat[] = [
  {
    name: 'HEIC',
    advice: CONVERT,
    matches: either(
      majorBrand('heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'),
      both(majorBrand('mif1', 'msf1'), (head) => !brand('avif', 'avis')(head)),
    ),
  },
  { name: 'SVG or other markup', advice: RENDER, matches: isMarkup },
  { name: 'PDF', advice: 'Render the page to PNG first', matches: ascii('%PDF') },
  { name: 'PostScript', advice: RENDER, matches: either(ascii('%!PS'), bytes(0xc5, 0xd0, 0xd3, 0xc6)) },
  {
    name: 'a ZIP archive or an office document',
    advice: UNPACK,
    matches: either(bytes(0x50, 0x4b, 3, 4), bytes(0x50, 0x4b, 5, 6), bytes(0x50, 0x4b, 7, 8)),
  },
  { name: 'a gzip file', advice: UNPACK, matches: bytes(0x1f, 0x8b) },
  { name: 'a 7z archive', advice: UNPACK, matches: bytes(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c) },
  { name: 'a RAR archive', advice: UNPACK, matches: ascii('Rar!') },
  { name: 'a tar archive', advice: UNPACK, matches: ascii('ustar', 257) },
  { name: 'an xz file', advice: UNPACK, matches: bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0) },
  { name: 'a Zstandard file', advice: UNPACK, matches: bytes(0x28, 0xb5, 0x2f, 0xfd) },
  {
    name: 'a bzip2 file',
    advice: UNPACK,
    matches: both(ascii('BZh'), (head) => /^[1-9]1AY/.test(head.toString('latin1', 3, 7))),
  },
  {
    name: 'an archive',
    advice: UNPACK,
    matches: either(bytes(0x04, 0x22, 0x4d, 0x18), ascii('MSCF'), bytes(0x1f, 0x9d), ascii('!<arch>'), ascii('LZIP')),
  },
  {
    name: 'JPEG XL',
    advice: CONVERT,
    matches: either(bytes(0xff, 0x0a), bytes(0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20)),
  },
  {
    name: 'JPEG 2000',
    advice: CONVERT,
    matches: either(bytes(0, 0, 0, 0x0c, 0x6a, 0x50, 0x20, 0x20), bytes(0xff, 0x4f, 0xff, 0x51)),
  },
  { name: 'JPEG XR', advice: CONVERT, matches: bytes(0x49, 0x49, 0xbc) },
  { name: 'a Photoshop document', advice: 'Flatten it and export it as PNG', matches: ascii('8BPS') },
  { name: 'a GIMP document', advice: 'Flatten it and export it as PNG', matches: ascii('gimp xcf') },
  {
    name: 'an icon or cursor',
    advice: 'Send the image in it as PNG',
    matches: either(bytes(0, 0, 1, 0), bytes(0, 0, 2, 0), ascii('icns')),
  },
  {
    name: 'a camera raw file',
    advice: DEVELOP,
    matches: either(
      ascii('CR\x02', 8),
      ascii('FUJIFILMCCD-RAW'),
      ascii('IIRO'),
      ascii('IIRS'),
      ascii('MMOR'),
      bytes(0x49, 0x49, 0x55, 0),
      ascii('FOVb'),
      bytes(0, 0x4d, 0x52, 0x4d),
      majorBrand('crx '),
      isRawTiff,
    ),
  },
  { name: 'OpenEXR', advice: 'Tone-map it to an 8-bit PNG first', matches: bytes(0x76, 0x2f, 0x31, 0x01) },
  { name: 'Radiance HDR', advice: 'Tone-map it to an 8-bit PNG first', matches: ascii('#?R') },
  { name: 'a Netpbm image', advice: CONVERT, matches: (head) => /^P[1-7fF]\s/.test(head.toString('latin1', 0, 3)) },
  { name: 'DICOM', advice: 'Export the image as PNG', matches: ascii('DICM', 128) },
  { name: 'FITS', advice: 'Export the image as PNG', matches: ascii('SIMPLE  =') },
  { name: 'DDS', advice: CONVERT, matches: ascii('DDS ') },
  { name: 'QOI', advice: CONVERT, matches: ascii('qoif') },
  { name: 'FLIF', advice: CONVERT, matches: ascii('FLIF') },
  { name: 'BPG', advice: CONVERT, matches: bytes(0x42, 0x50, 0x47, 0xfb) },
  { name: 'DjVu', advice: CONVERT, matches: ascii('AT&TFORM') },
  {
    name: 'a Windows metafile',
    advice: RENDER,
    matches: either(bytes(0xd7, 0xcd, 0xc6, 0x9a), both(bytes(1, 0, 0, 0), ascii(' EMF', 40))),
  },
  {
    name: 'an animated MNG or JNG',
    advice: STILL,
    matches: either(bytes(0x8a, 0x4d, 0x4e, 0x47), bytes(0x8b, 0x4a, 0x4e, 0x47)),
  },
  {
    name: 'audio',
    advice: 'Send an image',
    matches: either(riff('WAVE'), ascii('ID3'), ascii('OggS'), ascii('fLaC'), majorBrand('M4A ')),
  },
  {
    name: 'a video',
    advice: STILL,
    matches: either(
      bytes(0x1a, 0x45, 0xdf, 0xa3),
      riff('AVI '),
      bytes(0, 0, 1, 0xba),
      bytes(0, 0, 1, 0xb3),
      ascii('FLV\x01'),
      bytes(0x30, 0x26, 0xb2, 0x75),
      ascii('moov', 4),
      ascii('mdat', 4),
      both(isIsoMedia, (head) => !brand('avif', 'avis')(head)),
    ),
  },
  {
    name: 'a program',
    advice: 'Send an image',
    matches: either(
      bytes(0x7f, 0x45, 0x4c, 0x46),
      both(ascii('MZ'), (head) => head.length > 64),
      ascii('#!/'),
      bytes(0xcf, 0xfa, 0xed, 0xfe),
    ),
  },
];
