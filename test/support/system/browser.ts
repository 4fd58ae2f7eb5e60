// A real browser for tests that need one; without it they say loudly what is missing.
import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const BROWSER = '/usr/bin/chromium';

/** For tap's `skip`: false when there is a browser. In CI a skipped test counts as failed. */
export const browserIsMissing = existsSync(BROWSER) ? false : `needs ${BROWSER} (apt install chromium)`;

export async function openPage(t: Test): Promise<Page> {
  const browser = await chromium.launch({
    executablePath: BROWSER,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  t.teardown(() => browser.close());
  return browser.newPage();
}
