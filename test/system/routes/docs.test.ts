// Swagger UI as a person uses it: choose a image, press Execute, read the answer.
import t from 'tap';
import { buildTestApp } from '../../support/app.ts';
import { browserIsMissing, openPage } from '../../support/system/browser.ts';
import { makeImage } from '../../support/images/images.ts';

t.test(
  '"Try it out" works as it stands, with a real image and nothing else filled in',
  { skip: browserIsMissing },
  async (t) => {
    const { app } = await buildTestApp(t);
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const page = await openPage(t);
    await page.goto(`${address}/docs`);
    await page.click('.opblock-post .opblock-summary');
    await page.click('.try-out__btn');
    const pickers = page.locator('input[type=file]');
    await pickers.first().waitFor();
    t.equal(await pickers.count(), 2, 'a file picker each for image and reference');
    await pickers
      .first()
      .setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: await makeImage().png().toBuffer() });
    await page.click('.execute');
    const answer = page.locator('.live-responses-table');
    await answer.waitFor();
    const text = await answer.innerText();
    t.match(text, /200/);
    t.match(text, /"final_answer"|"quality_score"|"query": "How is the overall quality of this image\?"/);
  },
);

t.test(
  'several files for POST /compare: a picker for each, and the ranking comes back',
  { skip: browserIsMissing },
  async (t) => {
    const { app } = await buildTestApp(t);
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const page = await openPage(t);
    await page.goto(`${address}/docs`);
    const block = page.locator('.opblock-post', { has: page.locator('[data-path="/compare"]') });
    await block.locator('.opblock-summary').click();
    await block.locator('.try-out__btn').click();
    const pickers = block.locator('input[type=file]');
    await pickers.first().waitFor();
    t.equal(await pickers.count(), 3, 'two for images, one for reference');
    await block.locator('.json-schema-form-item-add').click();
    t.equal(await pickers.count(), 4, 'and one more for the asking');
    for (const [index, sigma] of [6, 0.3, 3].entries()) {
      await pickers
        .nth(index)
        .setInputFiles({
          name: `${index}.png`,
          mimeType: 'image/png',
          buffer: await makeImage().blur(sigma).png().toBuffer(),
        });
    }
    await block.locator('.execute').click();
    const answer = block.locator('.live-responses-table');
    await answer.waitFor();
    const text = await answer.innerText();
    t.match(text, /200/);
    t.match(text, /"verdict": "[^"]*By score: image 2 [^"]*image 3 [^"]*image 1/);
  },
);
