import t from 'tap';
import { openBrowser } from '../src/browser.ts';
import { findChromium } from '../src/chromium.ts';

t.test('a test of pages fails where there is no browser, and says what was tried', async (t) => {
  // A Mac has its browsers beside the PATH.
  if (findChromium({ PATH: '' }) !== null) return;
  await t.rejects(openBrowser(t, { PATH: '', CHROMIUM_MISSING: 'npm could not bring one.' }), {
    message: /There is no Chromium here.*npm could not bring one/,
  });
  await t.rejects(openBrowser(t, { PATH: '' }), { message: /Install chromium, or name one in CHROMIUM_PATH/ });
});
