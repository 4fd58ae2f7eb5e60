// Builds a Dockerfile without a container engine: each stage is a clean Debian root with its own layer, in which the real commands run.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DockerfileParser, type Copy, type From, type Instruction, type JSONInstruction } from 'dockerfile-ast';
import { createBase } from './debian-root.ts';
import { DEFAULT_PATH, runInRoot } from './namespaces.ts';

export interface Image {
  base: string;
  /** The files that the stage adds to the base. */
  layer: string;
  environment: Record<string, string>;
  workdir: string;
  user: string | null;
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
  stopSignal: string | null;
}

/** Builds all stages in `folder` from the files that .dockerignore allows; the last one is the image. */
export function buildImage(context: string, folder: string): Image {
  const dockerfile = DockerfileParser.parse(readFileSync(join(context, 'Dockerfile'), 'utf8'));
  const stages = new Map<string, Image>();
  let image: Image | null = null;
  for (const instruction of dockerfile.getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const from = instruction as From;
      image = startStage(from, join(folder, `stage-${stages.size}`));
      stages.set(from.getBuildStage() ?? `stage-${stages.size}`, image);
    } else if (image) {
      applyInstruction(instruction, image, context, stages);
    }
  }
  if (!image) throw new Error(`Expected a stage in ${context}/Dockerfile but found none`);
  return image;
}

function startStage(from: From, layer: string): Image {
  mkdirSync(layer, { recursive: true });
  return {
    base: createBase(from.getImage() ?? ''),
    layer,
    environment: { PATH: DEFAULT_PATH },
    workdir: '/',
    user: null,
    entrypoint: [],
    command: [],
    healthcheck: [],
    stopSignal: null,
  };
}

function applyInstruction(instruction: Instruction, image: Image, context: string, stages: Map<string, Image>): void {
  const words = instruction.getArguments().map((argument) => argument.getValue());
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      image.workdir = words[0] ?? '/';
      mkdirSync(join(image.layer, image.workdir), { recursive: true });
      break;
    case 'ENV':
      for (const word of words) image.environment[word.slice(0, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
      break;
    case 'COPY':
      copyFiles(instruction as Copy, image, context, stages);
      break;
    case 'RUN':
      runCommand(instruction, image);
      break;
    case 'USER':
      image.user = words[0] ?? null;
      break;
    case 'STOPSIGNAL':
      image.stopSignal = words[0] ?? null;
      break;
    case 'ENTRYPOINT':
      image.entrypoint = execForm(instruction);
      break;
    case 'CMD':
      image.command = execForm(instruction);
      break;
    case 'HEALTHCHECK':
      image.healthcheck = JSON.parse(instruction.getRawArgumentsContent()?.replace(/^.*?CMD /s, '') ?? '') as string[];
      break;
    case 'EXPOSE':
      break;
    default:
      throw new Error(`This builder does not support ${instruction.getKeyword()}`);
  }
}

/** Only the exec form makes the program process 1, which gets the signals. */
function execForm(instruction: Instruction): string[] {
  const words = (instruction as JSONInstruction).getJSONStrings().map((string) => string.getJSONValue());
  if (words.length === 0)
    throw new Error(
      `Expected the exec form for ${instruction.getKeyword()} in line ${instruction.getRange().start.line + 1}`,
    );
  return words;
}

function copyFiles(copy: Copy, image: Image, context: string, stages: Map<string, Image>): void {
  const words = copy.getArguments().map((argument) => argument.getValue());
  const target = words.pop() ?? '';
  const destination = join(image.layer, target.startsWith('/') ? target : join(image.workdir, target));
  const from = copy
    .getFlags()
    .find((flag) => flag.getName() === 'from')
    ?.getValue();
  const allowed = from ? () => true : readIgnoreFile(context);
  for (const word of words) {
    const source = from ? join(stages.get(from)?.layer ?? '', word) : join(context, word);
    if (!existsSync(source) || !allowed(word))
      throw new Error(
        `COPY ${word}: not found ${from ? `in stage ${from}` : 'among the files that .dockerignore allows'}`,
      );
    const isFolder = statSync(source).isDirectory();
    const place = target.endsWith('/') && !isFolder ? join(destination, basename(word)) : destination;
    mkdirSync(dirname(place), { recursive: true });
    // Hard links are enough: a stage does not change after another one copies from it.
    if (from) spawnSync('cp', ['--archive', '--link', '--no-target-directory', source, place]);
    else
      cpSync(source, place, {
        recursive: true,
        preserveTimestamps: true,
        verbatimSymlinks: true,
        filter: (path) => allowed(path.slice(context.length + 1)),
      });
  }
}

/** Supports what our ignore files use: exclude all (*), include a name (!name), exclude a name at any depth (**\/name). */
function readIgnoreFile(context: string): (path: string) => boolean {
  const lines = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const inside = (path: string, name: string) => path === name || path.startsWith(`${name}/`);
  return (path) =>
    lines.reduce((allowed, line) => {
      if (line.startsWith('!')) return allowed || inside(path, line.slice(1));
      if (line === '*') return false;
      if (line.startsWith('**/')) return allowed && !path.split('/').includes(line.slice(3));
      throw new Error(`This builder does not support ${line} in .dockerignore`);
    }, true);
}

function runCommand(instruction: Instruction, image: Image): void {
  const text = instruction.getArgumentsContent() ?? '';
  const caches = [...text.matchAll(/--mount=type=cache,target=(\S+)/g)].map(([, target]) => target ?? '');
  const command = text.replaceAll(/--mount=\S+\s+/g, '');
  const { status, stdout, stderr } = runInRoot(image, command, caches);
  if (status !== 0)
    throw new Error(
      `RUN ${command}\nended with ${status ?? 'a signal'}:\n${stdout.slice(-2000)}\n${stderr.slice(-2000)}`,
    );
}

/** For tap's `skip`: false when this machine has what is needed. In CI a skipped test counts as failed. */
export const builderIsMissing =
  process.getuid?.() === 0 && spawnSync('sh', ['-c', 'command -v mmdebstrap unshare nsenter ip curl']).status === 0
    ? false
    : 'needs root, mmdebstrap, util-linux, iproute2 and curl (apt install mmdebstrap iproute2 curl)';
