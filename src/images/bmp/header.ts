// Parses BMP headers, from OS/2's 12 bytes to Windows version 5, and validates them strictly before any pixel is read.
import { MalformedFileError } from '../containers/container.ts';

type BmpCompression = 'none' | 'rle8' | 'rle4';
/** Bits of each channel in a 16- or 32-bit pixel; a mask of 0 means that the channel is absent. */
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
  /** For 16 and 32 bits per pixel. */
  masks: ChannelMasks | null;
  /** For 8 bits per pixel and less: R, G, B of each entry. */
  palette: Buffer | null;
  /** Byte offset of the pixels in the file. */
  pixelOffset: number;
  /** Byte range of an embedded colour profile. */
  profile: { offset: number; bytes: number } | null;
}

const FILE_HEADER_BYTES = 14;
const CORE_BYTES = 12;
const INFO_BYTES = 40;
/** 64 is OS/2 version 2, whose extra fields do not affect the pixels, and 16 its short form; the others are Windows versions. */
const HEADER_SIZES = [CORE_BYTES, 16, INFO_BYTES, 52, 56, 64, 108, 124];
const SIZES_WITH_MASKS = [52, 56, 108, 124];
const MAX_SIDE = 2 ** 24;
const MAX_PROFILE_BYTES = 4_000_000;

export function readBmpHeader(head: Buffer, fileBytes: number): BmpHeader {
  if (head.length < FILE_HEADER_BYTES + 4) throw new MalformedFileError('the file ends inside its header');
  const size = head.readUInt32LE(FILE_HEADER_BYTES);
  if (!HEADER_SIZES.includes(size))
    throw new MalformedFileError(`its header has ${size} bytes, which matches no BMP version`);
  if (head.length < FILE_HEADER_BYTES + size) throw new MalformedFileError('the file ends inside its header');
  const info = head.subarray(FILE_HEADER_BYTES, FILE_HEADER_BYTES + size);
  const geometry = size === CORE_BYTES ? readCore(info) : readInfo(info);
  const compression = parseCompression(size, geometry.compression, geometry.bitsPerPixel);
  if (geometry.topDown && compression !== 'none')
    throw new MalformedFileError('its rows are run-length encoded top-down, which BMP does not allow');
  const masks = parseMasks(head, size, geometry.compression, geometry.bitsPerPixel);
  const pixelOffset = head.readUInt32LE(10);
  const maskBytes =
    size === INFO_BYTES && geometry.compression === 3 ? 12 : size === INFO_BYTES && geometry.compression === 6 ? 16 : 0;
  const paletteStart = FILE_HEADER_BYTES + size + maskBytes;
  if (pixelOffset < paletteStart || pixelOffset >= fileBytes)
    throw new MalformedFileError('its pixels are not where its header says');
  const palette =
    geometry.bitsPerPixel <= 8
      ? readPalette(head.subarray(paletteStart, pixelOffset), geometry, size === CORE_BYTES ? 3 : 4)
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
    profile: parseProfile(info, fileBytes),
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
  const isFull = info.length >= INFO_BYTES;
  const [compression, colours] = isFull ? [info.readUInt32LE(16), info.readUInt32LE(32)] : [0, 0];
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
    throw new MalformedFileError(`its header says ${width} × ${signedHeight} pixels`);
  if (planes !== 1) throw new MalformedFileError(`its header says ${planes} planes instead of 1`);
  if (![1, 2, 4, 8, 16, 24, 32].includes(bits)) throw new MalformedFileError(`its header says ${bits} bits per pixel`);
  return {
    width,
    height,
    topDown: signedHeight < 0,
    bitsPerPixel: bits as BmpHeader['bitsPerPixel'],
    compression,
    colours,
  };
}

function parseCompression(size: number, code: number, bits: number): BmpCompression {
  if (code === 0) return 'none';
  if (code === 1 && bits === 8) return 'rle8';
  if (code === 2 && bits === 4) return 'rle4';
  // OS/2 uses codes 3 and 4 for its own fax and 24-bit run-length encodings.
  if ((code === 3 || code === 6) && size !== 64 && (bits === 16 || bits === 32)) return 'none';
  throw new MalformedFileError(`its compression (${code} with ${bits} bits per pixel) is not supported`);
}

function parseMasks(head: Buffer, size: number, code: number, bits: number): ChannelMasks | null {
  if (bits !== 16 && bits !== 32) return null;
  if (code === 0)
    return bits === 16
      ? { red: 0x7c00, green: 0x3e0, blue: 0x1f, alpha: 0 }
      : { red: 0xff0000, green: 0xff00, blue: 0xff, alpha: 0 };
  const hasAlpha = code === 6 || (SIZES_WITH_MASKS.includes(size) && size >= 56);
  const at = FILE_HEADER_BYTES + INFO_BYTES;
  if (head.length < at + (hasAlpha ? 16 : 12)) throw new MalformedFileError('the file ends inside its header');
  const [red = 0, green = 0, blue = 0, alpha = 0] = [0, 4, 8, ...(hasAlpha ? [12] : [])].map((offset) =>
    head.readUInt32LE(at + offset),
  );
  for (const mask of [red, green, blue, alpha]) {
    // A mask must be one contiguous run of bits within the pixel.
    const run = mask === 0 ? '' : mask.toString(2).replace(/0+$/, '');
    if (run.includes('0') || mask.toString(2).length > (mask === 0 ? 1 : bits))
      throw new MalformedFileError('its colour masks are not contiguous');
  }
  if (red === 0 && green === 0 && blue === 0) throw new MalformedFileError('its colour masks are empty');
  if ([red & green, red & blue, green & blue, alpha & (red | green | blue)].some((overlap) => overlap !== 0))
    throw new MalformedFileError('its colour masks overlap');
  return { red, green, blue, alpha };
}

function readPalette(bytes: Buffer, { bitsPerPixel, colours }: Geometry, entryBytes: 3 | 4): Buffer {
  const maxEntries = 2 ** bitsPerPixel;
  if (colours > 256) throw new MalformedFileError(`its header says ${colours} colours in a palette of at most 256`);
  const count = Math.min(maxEntries, colours === 0 ? maxEntries : colours, Math.floor(bytes.length / entryBytes));
  if (count < 1) throw new MalformedFileError('it has no palette');
  const palette = Buffer.alloc(3 * count);
  for (let entry = 0; entry < count; entry += 1) {
    for (let channel = 0; channel < 3; channel += 1)
      palette[3 * entry + channel] = bytes[entryBytes * entry + 2 - channel] ?? 0;
  }
  return palette;
}

/** Only version 5 embeds profiles; linked profile files are ignored. */
function parseProfile(info: Buffer, fileBytes: number): BmpHeader['profile'] {
  if (info.length < 124 || info.readUInt32LE(56) !== 0x4d_42_45_44) return null;
  const [offset, bytes] = [FILE_HEADER_BYTES + info.readUInt32LE(112), info.readUInt32LE(116)];
  if (offset + bytes > fileBytes || bytes > MAX_PROFILE_BYTES)
    throw new MalformedFileError('its colour profile is not where its header says');
  return bytes < 128 ? null : { offset, bytes };
}
