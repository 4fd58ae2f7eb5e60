// npm run compare:reasoning -- image… [--backend name] [--query text]: runs both reasoning modes on the same images and questions; needs a key.
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { Assessment } from '../schemas/responses/assessment.ts';
import { loadConfig } from '../src/config/config.ts';
import { createBackends } from '../src/vlm/backends.ts';
import { EMBEDDED } from '../src/vlm/config-file.ts';
import { startLocalService } from './local-service.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'auto' },
    query: {
      type: 'string',
      multiple: true,
      default: ['Rate this photo.', 'What is wrong with this image, and where?'],
    },
  },
});
const backends = createBackends(loadConfig());
const backend = backends.resolveName(values.backend);
if (backend === EMBEDDED || !('client' in (backends.resolve(backend) ?? {}))) {
  console.log(`SKIPPED: "${values.backend}" has no key; set one of ${backends.supported.join(', ')}`);
  process.exit(0);
}
if (positionals.length === 0) {
  console.error('Expected at least one image');
  process.exit(1);
}

const rows: Record<string, unknown>[] = [];
for (const reasoning of ['merged', 'paper']) {
  const service = await startLocalService(loadConfig({ ...process.env, IQA_REASONING: reasoning }));
  for (const path of positionals) {
    for (const query of values.query) {
      const { status, body, elapsedMs } = await service.assess({ image: await readFile(path), query, backend });
      const {
        quality_score: score,
        summarizer_result: result,
        executor_evidence: evidence,
        metadata,
      } = body as Assessment;
      rows.push({
        image: basename(path),
        query,
        reasoning,
        status,
        ms: Math.round(elapsedMs),
        ...(status === 200
          ? {
              answer: result?.final_answer,
              score: score?.value ?? null,
              method: score?.method ?? null,
              distortions: JSON.stringify(evidence?.distortion_set),
              calls: metadata.vlm.calls,
              input_tokens: metadata.vlm.input_tokens,
              output_tokens: metadata.vlm.output_tokens,
              cost_usd: metadata.vlm.cost_usd,
              degraded: metadata.degraded_reason,
            }
          : {}),
      });
    }
  }
  await service.stop();
}
rows.sort((a, b) =>
  `${String(a['image'])}${String(a['query'])}`.localeCompare(`${String(b['image'])}${String(b['query'])}`),
);
console.table(rows);
console.log(JSON.stringify({ backend, date: new Date().toISOString(), rows }, null, 2));
