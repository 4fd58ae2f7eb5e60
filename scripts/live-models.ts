// npm run test:live: a small test suite against every provider whose key is set; without a key it is skipped.
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { parse } from '../schemas/validation/model.ts';
import { Assessment } from '../schemas/responses/assessment.ts';
import { loadConfig } from '../src/config/config.ts';
import { createBackends } from '../src/vlm/backends.ts';
import { startLocalService } from './local-service.ts';

const config = loadConfig();
const backends = createBackends(config);
const usable = Object.keys(config.models.backends).filter((name) => 'client' in (backends.resolve(name) ?? {}));
if (usable.length === 0) {
  console.log(
    'SKIPPED: no provider key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY) and no IQA_LOCAL_VLM_URL',
  );
  process.exit(0);
}

const CASES = [
  {
    query: 'Rate this photo.',
    holds: ({ quality_score }: Assessment) => quality_score !== null && quality_score.value < 3.5,
  },
  {
    query: 'Is this image blurry?',
    holds: ({ summarizer_result }: Assessment) => /yes/i.test(summarizer_result?.final_answer ?? ''),
  },
  {
    query: 'Which flaw is worst? A. Noise B. Compression C. Overexposure',
    holds: ({ summarizer_result }: Assessment) => summarizer_result?.final_answer === 'B',
  },
  {
    query: 'What do you make of the ball in this one?',
    holds: ({ summarizer_result }: Assessment) => (summarizer_result?.final_answer ?? '') !== '',
  },
];
const image = await readFile(join(config.root, 'docs/example.jpg'));
const service = await startLocalService(config);
let failed = 0;
for (const backend of usable) {
  for (const { query, holds } of CASES) {
    const { status, body } = await service.assess({ image, query, backend });
    const assessment = status === 200 ? parse(Assessment, body) : null;
    const good =
      assessment !== null &&
      assessment.metadata.reasoner.kind === 'vlm' &&
      !assessment.metadata.degraded &&
      holds(assessment);
    if (!good) failed += 1;
    const { vlm } = assessment?.metadata ?? {};
    console.log(
      `${good ? 'ok' : 'NOT OK'} ${backend}: ${query} → ${assessment?.summarizer_result?.final_answer ?? JSON.stringify(body)}` +
        `${vlm ? ` (${vlm.calls} calls, ${vlm.cost_usd} USD, ${assessment?.quality_score?.method ?? 'no score'})` : ''} ${assessment?.metadata.degraded_reason ?? ''}`,
    );
  }
}
await service.stop();
console.log(`${usable.length * CASES.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
