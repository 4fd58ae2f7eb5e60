// Files that are two things at once, or call themselves one thing and are another.
import { gzipSync } from 'node:zlib';
import { withSegment } from '../../support/images/metadata-blocks.ts';
import { pngChunk, withChunk } from '../../support/images/png-files.ts';
import type { BaseFiles } from './base-files.ts';
import type { HostileFile } from './files.ts';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/><script>alert(1)</script></svg>';
const SCRIPT = '*/=1;alert(1);/*';

export async function makePolyglots(base: BaseFiles): Promise<HostileFile[]> {
  const jpeg = base['baseline.jpg'];
  const png = base['plain.png'];
  const gif = Buffer.from(base['animated.gif']);
  // "GIF89a/*…": a script where the width of the screen stands.
  const gifScript = Buffer.concat([Buffer.from('GIF89a/*', 'latin1'), gif.subarray(8), Buffer.from(SCRIPT)]);
  const zip = makeZip('evil.html', Buffer.from('<script>alert(1)</script>'));
  const answered: Record<string, Buffer> = {
    'JPEG and ZIP': Buffer.concat([jpeg, zip]),
    'JPEG with HTML in a comment': withSegment(jpeg, 0xfe, Buffer.from('<html><script>alert(1)</script>')),
    'JPEG with PHP in EXIF': withSegment(jpeg, 0xe1, Buffer.from('Exif\0\0<?php system($_GET[0]); ?>')),
    'JPEG and a film': Buffer.concat([jpeg, Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0', 'latin1'), Buffer.alloc(5_000)]),
    'PNG and PDF': Buffer.concat([png, Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF')]),
    'PNG with PDF in a chunk': withChunk(png, pngChunk('tEXt', Buffer.from('%PDF-1.4\n%%EOF'))),
    'PNG with SVG in a text': withChunk(png, pngChunk('iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0${SVG}`))),
    'WebP and HTML': Buffer.concat([base['lossy.webp'], Buffer.from('<html><script>alert(1)</script>')]),
    'BMP and ZIP': Buffer.concat([base['plain.bmp'], zip]),
    'GIF and ZIP': Buffer.concat([gif, zip]),
    'TIFF and ZIP': Buffer.concat([base['lzw.tiff'], zip]),
    'AVIF and ZIP': Buffer.concat([base['still.avif'], zip]),
  };
  const refused: Record<string, Buffer> = {
    SVG: Buffer.from(SVG),
    'SVG behind spaces': Buffer.from(`\n\t  ${SVG}`),
    'SVG behind a declaration with entities': Buffer.from(
      `<?xml version="1.0"?><!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${SVG}`,
    ),
    'SVG in UTF-16': Buffer.from(`\ufeff${SVG}`, 'utf16le'),
    'gzipped SVG': gzipSync(Buffer.from(SVG)),
    'ZIP with a picture': makeZip('picture.jpg', jpeg),
    PDF: Buffer.from('%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\n%%EOF'),
    'PDF with a JPEG': Buffer.concat([Buffer.from('%PDF-1.7\n'), jpeg]),
    'HTML before a JPEG': Buffer.concat([Buffer.from('<html>'), jpeg]),
    'script before a PNG': Buffer.concat([Buffer.from('#!/bin/sh\n'), png]),
    'icon with a PNG': Buffer.concat([
      Buffer.from([0, 0, 1, 0, 1, 0, 64, 48, 0, 0, 1, 0, 32, 0, 0, 1, 0, 0, 22, 0, 0, 0]),
      png,
    ]),
    'PNG signature before a JPEG': Buffer.concat([png.subarray(0, 8), jpeg]),
    'JPEG signature before a PNG': Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), png]),
    'RIFF with SVG': Buffer.concat([Buffer.from('RIFF\xff\0\0\0WEBP', 'latin1'), Buffer.from(SVG)]),
    'BM with a script': Buffer.from(`BM=1;/*${'x'.repeat(200)}${SCRIPT}`),
    HEIC: Buffer.concat([Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'), base['still.avif'].subarray(32)]),
    'AVIF brand over a film': Buffer.from('\0\0\0\x18ftypavif\0\0\0\0avifmif1\0\0\0\x08moov', 'latin1'),
    'external entity': Buffer.from(
      '<?xml version="1.0"?><!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>',
    ),
    Netpbm: Buffer.from('P6\n60000 60000\n255\n'),
    'a path': Buffer.from('/etc/passwd'),
    'an address': Buffer.from('http://169.254.169.254/latest/meta-data/'),
    'ImageMagick script': Buffer.from(
      'push graphic-context\nviewbox 0 0 640 480\nfill \'url(https://example.com/image.jpg"|ls "-la)\'\npop graphic-context',
    ),
  };
  return [
    ...Object.entries(answered).map(([name, data]): HostileFile => ({
      name: `polyglot/${name}`,
      data,
      expect: 'answered',
    })),
    ...Object.entries(refused).map(([name, data]): HostileFile => ({
      name: `polyglot/${name}`,
      data,
      expect: 'refused',
    })),
    { name: 'polyglot/GIF and script', data: gifScript },
  ];
}

/** One stored file; enough for any reader of archives. */
function makeZip(name: string, data: Buffer): Buffer {
  const local = Buffer.alloc(30);
  local.write('PK\x03\x04', 'latin1');
  local.writeUInt32LE(data.length, 18);
  local.writeUInt32LE(data.length, 22);
  local.writeUInt16LE(name.length, 26);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  return Buffer.concat([local, Buffer.from(name), data, end]);
}
