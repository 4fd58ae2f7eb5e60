// Images that the tests make themselves: photo-like, deterministic, in any format.
import sharp, { type Sharp } from 'sharp';

export interface ImageOptions {
  width?: number;
  height?: number;
  seed?: number;
}

/** Occluding discs of all sizes before a sky, all textured, through a lens: natural enough for every tool. */
export function makeImage({ width = 512, height = 384, seed = 1 }: ImageOptions = {}): Sharp {
  const random = createRandom(seed);
  const texture = makeTexture(width, height, random);
  const canvas = new Float64Array(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    const down = Math.floor(at / width) / height;
    for (const [channel, base] of [110, 140, 190].entries())
      canvas[at * 3 + channel] = base + 40 * down + 6 * (texture[at] ?? 0);
  }
  for (const disc of makeDiscs(width, height, random)) paintDisc(canvas, width, height, texture, disc);
  const pixels = Buffer.from(
    canvas.map((value) => Math.max(0, Math.min(255, Math.round(value + (random() + random() - 1) * 3)))),
  );
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

interface Disc {
  x: number;
  y: number;
  radius: number;
  color: number[];
  contrast: number;
  shift: number;
}

/** Radii with density r⁻³, as in natural scenes; large ones lie behind. */
function makeDiscs(width: number, height: number, random: () => number): Disc[] {
  const smallest = (8 / Math.min(width, height)) ** 2;
  return Array.from({ length: Math.round((width * height) / 400) }, () => {
    const shade = 30 + 190 * random();
    return {
      radius: 4 / Math.sqrt(smallest + (1 - smallest) * random()),
      x: random() * width,
      y: height * (0.25 + 0.95 * random()),
      color: [0, 0, 0].map(() => shade + 60 * (random() - 0.5)),
      contrast: 5 + 15 * random(),
      shift: Math.floor(random() * 997),
    };
  }).sort((a, b) => b.radius - a.radius);
}

function paintDisc(
  canvas: Float64Array,
  width: number,
  height: number,
  texture: Float64Array,
  { x, y, radius, color, contrast, shift }: Disc,
): void {
  for (let row = Math.max(0, Math.floor(y - radius - 1)); row < Math.min(height, y + radius + 1); row += 1) {
    for (let column = Math.max(0, Math.floor(x - radius - 1)); column < Math.min(width, x + radius + 1); column += 1) {
      // A soft edge of about a pixel: no lens draws a staircase.
      const cover = Math.max(0, Math.min(1, (radius - Math.hypot(row - y, column - x)) * 0.7 + 0.5));
      if (cover === 0) continue;
      const at = row * width + column;
      const surface = contrast * (texture[(at + shift * width + shift) % texture.length] ?? 0);
      for (let channel = 0; channel < 3; channel += 1) {
        const index = at * 3 + channel;
        canvas[index] = (canvas[index] ?? 0) * (1 - cover) + ((color[channel] ?? 0) + surface) * cover;
      }
    }
  }
}

/** Value noise over six octaves: about 1/f, as textures are. */
function makeTexture(width: number, height: number, random: () => number): Float64Array {
  const texture = new Float64Array(width * height);
  for (let cell = 64; cell >= 2; cell /= 2) {
    const columns = Math.ceil(width / cell) + 2;
    const grid = Array.from({ length: columns * (Math.ceil(height / cell) + 2) }, () => random() * 2 - 1);
    const node = (column: number, row: number) => grid[row * columns + column] ?? 0;
    for (let at = 0; at < texture.length; at += 1) {
      const [u, v] = [(at % width) / cell, Math.floor(at / width) / cell];
      const [column, row] = [Math.floor(u), Math.floor(v)];
      const [right, down] = [u - column, v - row];
      const top = node(column, row) * (1 - right) + node(column + 1, row) * right;
      const bottom = node(column, row + 1) * (1 - right) + node(column + 1, row + 1) * right;
      texture[at] = (texture[at] ?? 0) + (top * (1 - down) + bottom * down) * Math.sqrt(cell / 64);
    }
  }
  return texture;
}

/** Mulberry32: small, seeded, good enough for images. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
