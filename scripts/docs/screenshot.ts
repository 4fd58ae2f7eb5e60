// Takes docs/swagger-ui.png: Swagger UI in Chromium after an image was assessed with "Try it out".
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { projectRoot } from '../../src/config/config.ts';

const address = process.argv[2] ?? 'http://127.0.0.1:3000';
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
const page = await browser.newPage({ viewport: { width: 1180, height: 1500 } });
await page.goto(`${address}/docs`);
await page.click('.opblock-post .opblock-summary');
await page.click('.try-out__btn');
await page.locator('input[type=file]').first().setInputFiles(join(projectRoot(), 'docs/example.jpg'));
await page.click('.execute');
const answer = page.locator('.live-responses-table');
await answer.waitFor();
const block = page.locator('.opblock-post').first();
const whole = await block.screenshot();
const top = (await block.boundingBox())?.y ?? 0;
const measureOffset = async (selector: string) =>
  Math.round(((await page.locator(selector).first().boundingBox())?.y ?? 0) - top);
const [body, buttons] = [await measureOffset('.opblock-section-request-body'), await measureOffset('.execute')];
await browser.close();

// The middle of the form is long: keep its beginning, then the button and the response.
const { width } = await sharp(whole).metadata();
const strips = [
  { top: body, height: 460 },
  { top: buttons - 20, height: 900 },
];
const parts = await Promise.all(
  strips.map((strip) =>
    sharp(whole)
      .extract({ left: 0, width, ...strip })
      .toBuffer(),
  ),
);
const joined = sharp({ create: { width, height: 1_380, channels: 3, background: 'white' } }).composite([
  { input: parts[0] ?? whole, left: 0, top: 0 },
  { input: parts[1] ?? whole, left: 0, top: 480 },
]);
writeFileSync(join(projectRoot(), 'docs/swagger-ui.png'), await joined.png({ palette: true, colours: 64 }).toBuffer());
