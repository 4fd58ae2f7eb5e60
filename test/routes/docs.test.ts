// Swagger UI as a person uses it: choose a picture, press Execute, read the answer.
import t from 'tap';
import { buildTestApp } from '../support/app.ts';
import { browserIsMissing, openPage } from '../support/browser.ts';
import { makePicture } from '../support/pictures.ts';

t.test('"Try it out" works as it stands, with a real picture and nothing else filled in', { skip: browserIsMissing }, async (t) => {
  const { app } = await buildTestApp(t);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const page = await openPage(t);
  await page.goto(`${address}/docs`);
  await page.click('.opblock-post .opblock-summary');
  await page.click('.try-out__btn');
  const pickers = page.locator('input[type=file]');
  await pickers.first().waitFor();
  t.equal(await pickers.count(), 2, 'a file picker each for image and reference');
  await pickers.first().setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: await makePicture().png().toBuffer() });
  await page.click('.execute');
  const answer = page.locator('.live-responses-table');
  await answer.waitFor();
  const text = await answer.innerText();
  t.match(text, /200/);
  t.match(text, /"final_answer"|"quality_score"|"query": "How is the overall quality of this image\?"/);
});
