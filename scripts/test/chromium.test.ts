import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumForTests, VERSION } from '@eloquentpoll/testkit/bring-chromium';
import { findChromium } from '@eloquentpoll/testkit/chromium';
import t from 'tap';

t.test(
  'the browser of page tests: the one that is named, the machine’s own, or the copy of an earlier run',
  async (t) => {
    const folder = t.testdir({ bin: { chromium: '' }, kept: { [`chromium-${VERSION}.sh`]: '' }, empty: {} });
    const named = { CHROMIUM_PATH: '/somewhere/chrome', PATH: join(folder, 'bin') };
    t.same(await chromiumForTests(named, folder), { CHROMIUM_PATH: '/somewhere/chrome' });
    const own = { PATH: `${join(folder, 'empty')}:${join(folder, 'bin')}` };
    t.same(await chromiumForTests(own, folder), { CHROMIUM_PATH: join(folder, 'bin', 'chromium') });
    if (findChromium({ PATH: join(folder, 'empty') }) === null)
      t.same(await chromiumForTests({ PATH: join(folder, 'empty') }, join(folder, 'kept')), {
        CHROMIUM_PATH: join(folder, 'kept', `chromium-${VERSION}.sh`),
      });
  },
);

t.test('where none can be had it is said why, and only tests that need one fail', async (t) => {
  const folder = t.testdir({});
  // Nothing can be unpacked where a file is in the way.
  writeFileSync(join(folder, 'blocked'), '');
  mkdirSync(join(folder, 'empty'));
  const answer = await chromiumForTests({ PATH: join(folder, 'empty') }, join(folder, 'blocked', 'chromium'));
  // A Mac has its browsers beside the PATH.
  if (answer.CHROMIUM_PATH === undefined)
    t.match(answer.CHROMIUM_MISSING, /Install chromium, or name one in CHROMIUM_PATH\.$/);
  else t.match(answer.CHROMIUM_PATH, 'Chrom');
});
