// What a BMP says about itself, from OS/2's 12 bytes to Windows' version 5, checked strictly before a single pixel is read.
import { StructureError } from '../containers/container.ts';

export type BmpCompression = 'none' | 'rle8' | 'rle4';
/** How one channel lies in a pixel of 16 or 32 bits; a mask of 0 means that it is absent. */
export interface ChannelMasks {
  red: number;
  green: number;
  blue: number;
  alpha: number;
}

export interface BmpHeader {
  width: number;
  height: number;
  topDown: boolean;
  bitsPerPixel: 1 | 2 | 4 | 8 | 16 | 24 | 32;
  compression: BmpCompression;
  /** Of 16 and 32 bits. */
  masks: ChannelMasks | null;
  /** Of 8 bits and less: R, G, B of each entry. */
  palette: Buffer | null;
  /** Where the pixels begin in the file. */
  pixelOffset: number;
  /** Where an embedded colour profile lies. */
  profile: { offset: number; bytes: number } | null;
}

const FILE_HEADER = 14;
const CORE = 12;
/** Of Windows; 64 is OS/2's second version, whose further fields mean nothing for the pixels. 16 to 60 are its shortened forms. */
const INFO = 40;
const HEADER_SIZES = [CORE, 16, INFO, 52, 56, 64, 108, 124];
const ALL_MASKS = [52, 56, 108, 124];
const MAX_SIDE = 2 ** 24;
const MAX_PROFILE_BYTES = 4_000_000;

export function readBmpHeader(head: Buffer, fileBytes: number): BmpHeader {
  if (head.length < FILE_HEADER + 4) throw new StructureError('the file ends inside its header');
  const size = head.readUInt32LE(FILE_HEADER);
  if (!HEADER_SIZES.includes(size))
    throw new StructureError(`its header has ${size} bytes, which no version of BMP has`);
  if (head.length < FILE_HEADER + size) throw new StructureError('the file ends inside its header');
  const info = head.subarray(FILE_HEADER, FILE_HEADER + size);
  const geometry = size === CORE ? readCore(info) : readInfo(info);
  const compression = compressionOf(size, geometry.compression, geometry.bitsPerPixel);
  if (geometry.topDown && compression !== 'none')
    throw new StructureError('its rows are run-length coded from the top, which BMP does not allow');
  const masks = masksOf(head, size, geometry.compression, geometry.bitsPerPixel);
  const pixelOffset = head.readUInt32LE(10);
  const maskBytes =
    size === INFO && geometry.compression === 3 ? 12 : size === INFO && geometry.compression === 6 ? 16 : 0;
  const paletteStart = FILE_HEADER + size + maskBytes;
  if (pixelOffset < paletteStart || pixelOffset >= fileBytes)
    throw new StructureError('its pixels do not lie where its header says');
  const palette =
    geometry.bitsPerPixel <= 8
      ? readPalette(head.subarray(paletteStart, pixelOffset), geometry, size === CORE ? 3 : 4)
      : null;
  const { width, height, topDown, bitsPerPixel } = geometry;
  return {
    width,
    height,
    topDown,
    bitsPerPixel,
    compression,
    masks,
    palette,
    pixelOffset,
    profile: profileOf(info, fileBytes),
  };
}

interface Geometry {
  width: number;
  height: number;
  topDown: boolean;
  bitsPerPixel: BmpHeader['bitsPerPixel'];
  compression: number;
  colours: number;
}

function readCore(info: Buffer): Geometry {
  return checkGeometry(info.readUInt16LE(4), info.readUInt16LE(6), info.readUInt16LE(8), info.readUInt16LE(10), 0, 0);
}

function readInfo(info: Buffer): Geometry {
  const long = info.length >= INFO;
  const [compression, colours] = long ? [info.readUInt32LE(16), info.readUInt32LE(32)] : [0, 0];
  return checkGeometry(
    info.readInt32LE(4),
    info.readInt32LE(8),
    info.readUInt16LE(12),
    info.readUInt16LE(14),
    compression,
    colours,
  );
}

function checkGeometry(
  width: number,
  signedHeight: number,
  planes: number,
  bits: number,
  compression: number,
  colours: number,
): Geometry {
  const height = Math.abs(signedHeight);
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
    throw new StructureError(`its header says ${width} × ${signedHeight} pixels`);
  if (planes !== 1) throw new StructureError(`its header says ${planes} planes instead of 1`);
  if (![1, 2, 4, 8, 16, 24, 32].includes(bits)) throw new StructureError(`its header says ${bits} bits a pixel`);
  return {
    width,
    height,
    topDown: signedHeight < 0,
    bitsPerPixel: bits as BmpHeader['bitsPerPixel'],
    compression,
    colours,
  };
}

function compressionOf(size: number, code: number, bits: number): BmpCompression {
  if (code === 0) return 'none';
  if (code === 1 && bits === 8) return 'rle8';
  if (code === 2 && bits === 4) return 'rle4';
  // OS/2 numbers its own fax and 24-bit run-length codes 3 and 4.
  if ((code === 3 || code === 6) && size !== 64 && (bits === 16 || bits === 32)) return 'none';
  throw new StructureError(`it is compressed in a way (${code} with ${bits} bits a pixel) that is not read here`);
}

function masksOf(head: Buffer, size: number, code: number, bits: number): ChannelMasks | null {
  if (bits !== 16 && bits !== 32) return null;
  if (code === 0)
    return bits === 16
      ? { red: 0x7c00, green: 0x3e0, blue: 0x1f, alpha: 0 }
      : { red: 0xff0000, green: 0xff00, blue: 0xff, alpha: 0 };
  const hasAlpha = code === 6 || (ALL_MASKS.includes(size) && size >= 56);
  const at = FILE_HEADER + INFO;
  if (head.length < at + (hasAlpha ? 16 : 12)) throw new StructureError('the file ends inside its header');
  const [red = 0, green = 0, blue = 0, alpha = 0] = [0, 4, 8, ...(hasAlpha ? [12] : [])].map((offset) =>
    head.readUInt32LE(at + offset),
  );
  for (const mask of [red, green, blue, alpha]) {
    // One unbroken run of bits within the pixel.
    const run = mask === 0 ? '' : mask.toString(2).replace(/0+$/, '');
    if (run.includes('0') || mask.toString(2).length > (mask === 0 ? 1 : bits))
      throw new StructureError('its colour masks are no runs of bits');
  }
  if (red === 0 && green === 0 && blue === 0) throw new StructureError('its colour masks are empty');
  if ([red & green, red & blue, green & blue, alpha & (red | green | blue)].some((overlap) => overlap !== 0))
    throw new StructureError('its colour masks overlap');
  return { red, green, blue, alpha };
}

function readPalette(bytes: Buffer, { bitsPerPixel, colours }: Geometry, entryBytes: 3 | 4): Buffer {
  const most = 2 ** bitsPerPixel;
  if (colours > 256) throw new StructureError(`its header says ${colours} colours in a palette of at most 256`);
  const count = Math.min(most, colours === 0 ? most : colours, Math.floor(bytes.length / entryBytes));
  if (count < 1) throw new StructureError('it has no palette');
  const palette = Buffer.alloc(3 * count);
  for (let entry = 0; entry < count; entry += 1) {
    for (let channel = 0; channel < 3; channel += 1)
      palette[3 * entry + channel] = bytes[entryBytes * entry + 2 - channel] ?? 0;
  }
  return palette;
}

/** Only version 5 embeds profiles; a profile that lies beside its file is never looked for. */
function profileOf(info: Buffer, fileBytes: number): BmpHeader['profile'] {
  if (info.length < 124 || info.readUInt32LE(56) !== 0x4d_42_45_44) return null;
  const [offset, bytes] = [FILE_HEADER + info.readUInt32LE(112), info.readUInt32LE(116)];
  if (offset + bytes > fileBytes || bytes > MAX_PROFILE_BYTES)
    throw new StructureError('its colour profile does not lie where its header says');
  return bytes < 128 ? null : { offset, bytes };
}
