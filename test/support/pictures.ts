// Pictures that the tests make themselves: photo-like, deterministic, in any format.
import sharp, { type Sharp } from 'sharp';

export interface PictureOptions {
  width?: number;
  height?: number;
  seed?: number;
}

/** Soft gradients, discs with hard edges and fine texture: enough of a photo for every tool to have something to measure. */
export function makePicture({ width = 512, height = 384, seed = 1 }: PictureOptions = {}): Sharp {
  const random = createRandom(seed);
  const discs = Array.from({ length: 60 }, () => ({
    x: random() * width, y: random() * height, radius: 8 + random() * width / 6, color: [random() * 255, random() * 255, random() * 255],
  }));
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const disc = discs.findLast((candidate) => (x - candidate.x) ** 2 + (y - candidate.y) ** 2 < candidate.radius ** 2);
      for (let channel = 0; channel < 3; channel += 1) {
        const base = disc?.color[channel] ?? 90 + 100 * (channel === 0 ? x / width : y / height);
        const texture = 10 * Math.sin(x * 0.9 + channel) * Math.sin(y * 0.7) + (random() - 0.5) * 2;
        pixels[(y * width + x) * 3 + channel] = Math.max(0, Math.min(255, Math.round(base * 0.8 + 25 + texture)));
      }
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** Mulberry32: small, seeded, good enough for pictures. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
