import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { pollFigures } from '../../src/discovery/documents/poll-figures.ts';
import { newKeyPage, revokeKeyPage } from '../../src/pages/dashboard/key-pages.ts';
import { failedLoginPage } from '../../src/pages/failed-login-page.ts';
import { PAGE_HEADERS } from '../../src/pages/layout.ts';
import { resultPage, STRANGER } from '../../src/pages/result-page.ts';
import { runningPage } from '../../src/pages/running-page.ts';
import { madeUpResult, madeUpSpec } from '../fixtures/made-up-result.ts';
import { openSite } from '../fixtures/open-site.ts';
import { draw, LOOKS, MAX_BYTES, problemsOf } from '../fixtures/page-problems.ts';
import { plantAgreement, plantAudits } from '../fixtures/planted-audits.ts';

// slow: 14 s

// Every page, from a narrow phone to a wide screen, in the light and in the dark: nothing that axe calls serious, nothing
// wider than the page, and less than 100 KB. With SCREENSHOTS=folder each is drawn there, to be looked at.

const site = await openSite(t, { rateLimits: readPolicies('read=1000000/60') });
const figures = await pollFigures(site.context);
const broad = site.context.panels.panel('broad').models.map(({ id }) => id);
const [first] = broad as [string, ...string[]];
await plantAudits(site, { polls: 300, wrongEvery: 60 });
await plantAudits(site, { polls: 112, wrongEvery: 20, panel: 'fast', monthsAgo: 1 });
await plantAgreement(site, broad);
const shown = (result = madeUpResult()) =>
  resultPage({
    facts: { baseUrl: site.url, figures },
    result,
    feedback: { total: 3, correct: 2, incorrect: 1 },
    reader: STRANGER,
    hasReceipt: true,
    thanks: false,
  });

const MADE: Record<string, string> = {
  result: shown(),
  'result-partial': shown(madeUpResult({ reason: null, choices: [0, null, 1, null, 0] })),
  'result-failed': shown(madeUpResult({ choices: [null, null, null], reason: 'roster_exhausted' })),
  'result-tie': shown(madeUpResult({ choices: [0, 1, 0, 1], unasked: 0, reason: 'roster_exhausted' })),
  'result-old': shown(madeUpResult({ isOld: true })),
  'result-reasons': shown(
    madeUpResult({
      reasons: ['It keeps the method, and is permanent.', 'The body is sent again.', 'It is the older code.'],
    }),
  ),
  'result-long': shown(
    madeUpResult({
      question: 'Which of these does a team of five need first? '.repeat(20),
      options: Array.from({ length: 10 }, (_, i) => `Option ${i}, ${'with a great deal to say '.repeat(6)}`),
      choices: [9, 1, 2, 9, 4, 5, 6, 9],
      isSimulated: true,
    }),
  ),
  running: runningPage({
    baseUrl: site.url,
    poll: { resultId: 'EP-2026-01-31-4q7x2mfzk5wtb3ha', spec: madeUpSpec({ choices: [] }, 9) },
    snapshot: null,
  }),
  'new-key': newKeyPage(site.url, { key: `ep_k_${'x'.repeat(38)}`, isReadOnly: false, expiresAt: null }),
  'revoke-key': revokeKeyPage(site.url, {
    id: '00000000-0000-4000-8000-000000000000',
    prefix: 'ep_k_3xYz1',
    label: 'A notebook with a long name that took its owner some time to',
    isReadOnly: false,
    limit: null,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    createdAt: new Date(0),
  }),
  'login-failed': failedLoginPage({ baseUrl: site.url, panels: site.context.panels }, 'Sign-in was cancelled.'),
};

const SERVED: Record<string, string> = {
  home: '/?view=human',
  agents: '/',
  playground: '/playground?question=Which+is+best%3F&option=One&option=Two',
  models: '/models?preset=broad',
  model: `/models/${encodeURIComponent(first)}`,
  trust: '/trust',
  pricing: '/pricing',
  surfaces: '/surfaces',
  connect: '/connect',
  'guide-results': '/guides/reading-results',
  'guide-many': '/guides/many-polls',
  'sign-in': '/dashboard',
  docs: '/api/docs',
  error: '/errors/insufficient_balance',
  'no-result': '/result/EP-2026-01-31-4q7x2mfzk5wtb3ha',
  'no-page': '/nowhere',
};

/** The interactive reader makes itself in the browser, and says what it is in a way of its own. */
const PATHS = {
  ...SERVED,
  try: '/api/docs/try',
  ...Object.fromEntries(Object.keys(MADE).map((name) => [name, `/made/${name}`])),
};

/** A fifteenth of it on the wire, which reference.test.ts bounds: it is mostly the names of the same fields. */
const MAX_REFERENCE_BYTES = 640 * 1024;

for (const { colorScheme, width } of LOOKS) {
  t.test(`every page, for every eye, ${width} wide, ${colorScheme}`, async (t) => {
    const page = await site.open('/logo.svg', { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await page.route('**/made/*', (route) => {
      const made = MADE[new URL(route.request().url()).pathname.split('/').at(-1)!]!;
      return route.fulfill({ body: made, contentType: 'text/html; charset=utf-8', headers: { ...PAGE_HEADERS } });
    });
    for (const [name, path] of Object.entries(PATHS)) {
      const answer = await page.goto(path, { waitUntil: 'load' });
      t.ok((await answer!.body()).length < (name === 'docs' ? MAX_REFERENCE_BYTES : MAX_BYTES), name);
      await page.locator('h1').first().waitFor();
      t.same(await problemsOf(page), [], name);
      await draw(page, `${name}-${width}-${colorScheme}`);
    }
  });
}

t.test('every page says what it is, to search engines, to links elsewhere and to who reads by keyboard', async (t) => {
  const page = await site.open('/logo.svg');
  for (const [name, path] of Object.entries(SERVED)) {
    await page.goto(path);
    const content = (selector: string) => page.locator(selector).getAttribute('content');
    t.match(await page.title(), /.{12}/, name);
    t.match(await content('meta[name="description"]'), /.{20}/, name);
    for (const property of ['title', 'description', 'url', 'image', 'image:alt', 'site_name'])
      t.ok(await content(`meta[property="og:${property}"]`), `${name} og:${property}`);
    t.match(await page.locator('link[rel="canonical"]').getAttribute('href'), site.url, name);
    t.equal(await page.locator('html').getAttribute('lang'), 'en');
    t.ok((await page.locator('link[rel="icon"]').count()) === 1);
    await page.keyboard.press('Tab');
    t.equal(await page.locator(':focus').textContent(), 'To the content', name);
  }
});

t.test('code in four languages, one at a time, by keyboard', async (t) => {
  const page = await site.open('/?view=human');
  t.equal(await page.getByRole('tab').count(), 4);
  await page.getByRole('tab', { name: 'Shell' }).focus();
  for (const name of ['TypeScript', 'Python', 'MCP', 'Shell']) {
    await page.keyboard.press('ArrowRight');
    t.equal(await page.locator(':focus').textContent(), name);
    t.equal(await page.getByRole('tabpanel').count(), 1);
    await page.getByRole('tabpanel', { name }).waitFor();
  }
});

t.test('what is serious is found', async (t) => {
  const page = await site.open('/playground', { bypassCSP: true });
  await page.evaluate("document.querySelector('main').innerHTML = '<p><input></p><pre>' + 'x'.repeat(999) + '</pre>'");
  await page.evaluate("Object.assign(document.querySelector('pre').style, { overflow: 'visible', whiteSpace: 'pre' })");
  const problems = await problemsOf(page);
  t.ok(problems.some((problem) => problem.startsWith('label')));
  t.ok(problems.some((problem) => problem.endsWith('wider than the page')));
});
