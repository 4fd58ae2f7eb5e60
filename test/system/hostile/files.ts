// At least three hundred files that mean harm or are harmed, the same ones each time: bombs, cuts, lies, polyglots, mutations.
import { createRandom } from '../../support/images/images.ts';
import { makeBaseFiles, type BaseFiles } from './base-files.ts';
import { makeBombs } from './bombs.ts';
import { boundariesOf } from './boundaries.ts';
import { makeLies } from './mismatched-headers.ts';
import { makePolyglots } from './polyglots.ts';

export interface HostileFile {
  name: string;
  data: Buffer;
  /** What the answer must be; by default anything but a fault of ours. */
  expect?: 'refused' | 'answered';
}

export async function makeHostileFiles(): Promise<HostileFile[]> {
  const base = await makeBaseFiles();
  return [
    ...makeBlanks(),
    ...makeCuts(base),
    ...makeLies(base),
    ...(await makeBombs(base)),
    ...(await makePolyglots(base)),
    ...makeMutations(base),
  ];
}

function makeBlanks(): HostileFile[] {
  const random = createRandom(1);
  const blanks: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'one zero': Buffer.alloc(1),
    'a thousand zeros': Buffer.alloc(1_000),
    'a million zeros': Buffer.alloc(1_000_000),
    'a million ones': Buffer.alloc(1_000_000, 255),
    'a line end': Buffer.from('\n'),
    noise: Buffer.from(Array.from({ length: 50_000 }, () => Math.floor(random() * 256))),
    text: Buffer.from('../../../../etc/passwd\0.png'),
  };
  return Object.entries(blanks).map(([name, data]) => ({ name: `blank/${name}`, data, expect: 'refused' }));
}

function makeCuts(base: BaseFiles): HostileFile[] {
  return Object.entries(base).flatMap(([name, file]) =>
    boundariesOf(name, file).map((at): HostileFile => ({
      // A GIF may end after any frame, and who reads AVIF or TIFF may not need its last bytes.
      name: `cut/${name} at ${at}`,
      data: file.subarray(0, at),
      ...(/jpg|png|webp|bmp/.test(name) || at < 12 ? { expect: 'refused' } : {}),
    })),
  );
}

const MUTANTS_OF_EACH = 8;

/** One to forty bytes changed, anywhere or in the first two hundred. */
function makeMutations(base: BaseFiles): HostileFile[] {
  const random = createRandom(20_261_117);
  const below = (limit: number) => Math.floor(random() * limit);
  return Object.entries(base).flatMap(([name, file]) =>
    Array.from({ length: MUTANTS_OF_EACH }, (_, index): HostileFile => {
      const data = Buffer.from(file);
      const reach = index % 2 === 0 ? data.length : Math.min(200, data.length);
      for (let count = 1 + below(40); count > 0; count -= 1)
        data[below(reach)] = [0, 255, 0x7f, 0x80, below(256)][below(5)]!;
      return { name: `mutant/${name} ${index}`, data };
    }),
  );
}
