// Records the service's answer to docs/example.jpg in docs/example-answer.json; "npm run docs" puts it into README.md and the answer card.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { loadConfig } from '../../src/config/config.ts';
import { trimAnswer } from './example-answer.ts';
import { startLocalService } from '../local-service.ts';

const QUERY = 'How is the overall quality of this image?';

const config = loadConfig({});
const service = await startLocalService(config);
try {
  const image = readFileSync(join(config.root, 'docs/example.jpg'));
  const { body } = await service.assess({ image, query: QUERY, backend: 'embedded' });
  const answer = trimAnswer(body as Assessment);
  writeFileSync(join(config.root, 'docs/example-answer.json'), `${JSON.stringify(answer, null, 2)}\n`);
} finally {
  await service.stop();
}
