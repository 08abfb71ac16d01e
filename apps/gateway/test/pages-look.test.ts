import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@eloquentpoll/testkit/browser';
import type { AxeResults } from 'axe-core';
import t from 'tap';
import { PAGE_HEADERS } from '../src/pages/layout.ts';
import { resultPage } from '../src/pages/result-page.ts';
import { madeUpResult } from './made-up-result.ts';
import { openSite } from './open-site.ts';

// Every page, from a narrow phone to a wide screen, in the light and in the dark: nothing that axe calls serious, nothing
// wider than the page, and less than 100 KB. With SCREENSHOTS=folder each is drawn there, to be looked at.

const site = await openSite(t);
const folder = process.env.SCREENSHOTS;
if (folder) mkdirSync(folder, { recursive: true });
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const WIDTHS = [320, 1280];
const SCHEMES = ['light', 'dark'] as const;
const MOST_BYTES = 100 * 1024;

const shown = (result = madeUpResult()) =>
  resultPage({ baseUrl: site.url, result, feedback: { total: 3, correct: 2, incorrect: 1 }, word: null });

const MADE: Record<string, string> = {
  result: shown(),
  'result-partial': shown(
    madeUpResult({ status: 'partial', termination_reason: null, ballots: [0, null, 1, null, 0], confidence: 0.62 }),
  ),
  'result-failed': shown(
    madeUpResult({ status: 'failed', ballots: [null, null, null], termination_reason: 'roster_exhausted' }),
  ),
};

const SERVED: Record<string, string> = {
  home: '/?view=human',
  agents: '/',
  playground: '/playground?question=Which+is+best%3F&option=One&option=Two',
  'no-result': '/result/EP-2026-01-31-4q7x2mfzk5wtb3ha',
};

async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  return [
    ...violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target, html }) => `${target.join(' ')} ${html}`).join('; ')}`),
    ...(Number(wide) > 0 ? [`${wide} pixels wider than the page`] : []),
  ];
}

const PATHS = { ...SERVED, ...Object.fromEntries(Object.keys(MADE).map((name) => [name, `/made/${name}`])) };

for (const colorScheme of SCHEMES) {
  t.test(`every page, for every eye and every width, ${colorScheme}`, async (t) => {
    const page = await site.open('/logo.svg', { colorScheme, bypassCSP: true });
    await page.route('**/made/*', (route) => {
      const made = MADE[new URL(route.request().url()).pathname.split('/').at(-1)!]!;
      return route.fulfill({ body: made, contentType: 'text/html; charset=utf-8', headers: { ...PAGE_HEADERS } });
    });
    for (const [name, path] of Object.entries(PATHS)) {
      const answer = await page.goto(path, { waitUntil: 'load' });
      t.ok((await answer!.body()).length < MOST_BYTES, name);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        t.same(await problemsOf(page), [], `${name}, ${width} wide`);
        if (folder)
          await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  });
}

t.test('what is serious is found', async (t) => {
  const page = await site.open('/playground', { bypassCSP: true });
  await page.evaluate("document.querySelector('main').innerHTML = '<p><input></p><pre>' + 'x'.repeat(999) + '</pre>'");
  await page.evaluate("document.querySelector('pre').style.overflow = 'visible'");
  const problems = await problemsOf(page);
  t.ok(problems.some((problem) => problem.startsWith('label')));
  t.ok(problems.some((problem) => problem.endsWith('wider than the page')));
});
