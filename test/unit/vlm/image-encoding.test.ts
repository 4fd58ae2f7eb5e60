// Images encoded for a model.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import t from 'tap';
import type { PreparedImage } from '../../../src/images/prepare-image.ts';
import { createImageSource } from '../../../src/vlm/image-encoding.ts';
import { makeImage } from '../../support/images/images.ts';

t.test('small images unchanged, large ones scaled down, crops at full resolution, each encoded once', async (t) => {
  const file = (name: string) => `${t.testdirName}/${name}`;
  t.testdir();
  const prepared = async (name: string, width: number, height: number): Promise<PreparedImage> => {
    const { size } = await makeImage({ width, height }).jpeg({ quality: 90 }).toFile(file(name));
    return {
      path: file(name),
      field: 'image',
      bytes: size,
      sha256: name,
      jpegQuality: null,
      verify: () => Promise.resolve(),
      info: { sha256: name, width, height, format: 'jpeg', bytes: size, notes: [] },
    };
  };
  const settings = { long_side: 256, crop_long_side: 200 };
  const small = createImageSource(await prepared('small.jpg', 200, 100), null, settings);
  const whole = await small.whole();
  t.match(whole, { width: 200, height: 100, mediaType: 'image/jpeg' }, 'never enlarged');
  t.ok(Buffer.from(whole.base64, 'base64').equals(await readFile(file('small.jpg'))), 'the same bytes');
  t.equal(await small.whole(), whole, 'encoded once');
  t.equal(await small.reference(), null);
  const large = createImageSource(
    await prepared('large.jpg', 640, 320),
    await prepared('reference.jpg', 640, 320),
    settings,
  );
  t.match(await large.whole(), { width: 256, height: 128, mediaType: 'image/jpeg' });
  t.match(await large.reference(), { width: 256, height: 128, label: /reference/ });
  const crop = await large.crop({ name: 'ball', box: [10, 20, 100, 50] });
  t.match(crop, { width: 100, height: 50, mediaType: 'image/png', label: /"ball"/ });
  const { data } = await sharp(file('large.jpg'))
    .extract({ left: 10, top: 20, width: 100, height: 50 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  t.ok((await sharp(Buffer.from(crop.base64, 'base64')).raw().toBuffer()).equals(data), 'the same pixels');
  t.match(await large.crop({ name: 'wide', box: [0, 0, 400, 100] }), { width: 200, height: 50 });
  const noise = await prepared('noise.png', 8, 8);
  await sharp(randomBytes(1_600 * 1_600 * 3), { raw: { width: 1_600, height: 1_600, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toFile(noise.path);
  const heavy = await createImageSource(noise, null, { long_side: 256, crop_long_side: 2_048 }).crop({
    name: 'all',
    box: [0, 0, 1_600, 1_600],
  });
  t.match(
    heavy,
    { width: 1_600, height: 1_600, mediaType: 'image/jpeg' },
    'a crop that is too large as PNG becomes a JPEG of the same size',
  );
  t.ok(heavy.base64.length < 5_000_000);
  const broken = createImageSource(
    { ...(await prepared('gone.jpg', 640, 320)), path: file('nothing.jpg') },
    null,
    settings,
  );
  await t.rejects(broken.whole(), { code: 'IQA_INPUT_IMAGE' });
});
