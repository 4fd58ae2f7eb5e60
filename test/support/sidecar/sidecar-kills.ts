// Kills the sidecar again and again while requests come in, and keeps the books: shared by the test and the benchmark.
import { setTimeout as delay } from 'node:timers/promises';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { formRequest } from '../app.ts';
import { makeImage } from '../images/images.ts';
import { withSplitData } from '../images/png-files.ts';
import { until, type Service } from '../system/service.ts';

export interface KillReport {
  /** Status of every request, and whether a 200 said what it should. */
  answers: { status: number; right: boolean }[];
  /** Milliseconds from each kill until the service was ready again. */
  readyAgainMs: number[];
}

const CLIENTS = 4;

export async function killUnderLoad(service: Service, kills: number): Promise<KillReport> {
  const images = await Promise.all(
    Array.from({ length: 6 }, (_, seed) => makeImage({ width: 320, height: 240, seed }).png().toBuffer()),
  );
  const ask = async (index: number, unique: number) => {
    const { payload, headers } = await formRequest({
      image: withSplitData(images[index] ?? Buffer.alloc(0), unique + images.length),
    });
    const response = await fetch(`${service.address}/assess`, {
      method: 'POST',
      body: new Uint8Array(payload as Buffer),
      headers: headers as Record<string, string>,
    });
    return {
      status: response.status,
      verdict: response.status === 200 ? verdictOf((await response.json()) as Assessment) : await response.text(),
    };
  };
  const expected = (await Promise.all(images.map((_, index) => ask(index, -1 - index)))).map(({ verdict }) => verdict);
  const answers: KillReport['answers'] = [];
  const readyAgainMs: number[] = [];
  let going = true;
  let count = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (going) {
      const unique = count++;
      const { status, verdict } = await ask(unique % images.length, unique);
      answers.push({ status, right: status !== 200 || verdict === expected[unique % images.length] });
      if (status !== 200) await delay(20);
    }
  });
  for (let kill = 0; kill < kills; kill += 1) {
    const served = answers.length;
    await until(() => answers.length > served + CLIENTS);
    readyAgainMs.push(await killOnce(service));
  }
  going = false;
  await Promise.all(clients);
  return { answers, readyAgainMs };
}

async function killOnce(service: Service): Promise<number> {
  const lives = () => service.logs.filter((line) => 'sidecar_pid' in line).map((line) => Number(line['sidecar_pid']));
  const known = lives().length;
  process.kill(lives().at(-1) ?? 0, 'SIGKILL');
  const started = performance.now();
  await until(() => lives().length > known);
  await until(async () => (await fetch(`${service.address}/ready`)).status === 200);
  return performance.now() - started;
}

/** What must not depend on who was killed when. */
function verdictOf({ quality_score, summarizer_result, diagnostics, metadata }: Assessment): string {
  return JSON.stringify([
    quality_score,
    summarizer_result?.final_answer,
    diagnostics.tools.map((tool) => tool.raw_score),
    metadata.degraded,
  ]);
}
