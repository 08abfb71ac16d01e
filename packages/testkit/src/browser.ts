import { type Browser, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { findChromium } from './chromium.ts';

export type { Browser, BrowserContextOptions, Page } from 'playwright-core';

// One real Chromium per test file, without a window. A machine without one fails the test and says what is missing.

/**
 * Tests run as root in containers, where Chromium's own sandbox does not start. The browser loads only our own pages.
 */
const FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--font-render-hinting=none',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];
const START_MS = 90_000;

/** Started for this test and ended with it. */
export async function openBrowser(t: Test, env: NodeJS.ProcessEnv = process.env): Promise<Browser> {
  const browser = await launchChromium(env);
  t.teardown(() => browser.close());
  return browser;
}

/** The caller closes it. */
export async function launchChromium(env: NodeJS.ProcessEnv = process.env): Promise<Browser> {
  const executablePath = findChromium(env);
  if (executablePath === null) {
    const why = env.CHROMIUM_MISSING ?? 'Install chromium, or name one in CHROMIUM_PATH.';
    throw new Error(`There is no Chromium here, and pages are tested in a real one. ${why}`);
  }
  return chromium.launch({ executablePath, args: FLAGS, timeout: START_MS, chromiumSandbox: false });
}
