import type { ResultDetail } from '@eloquentpoll/contracts';
import type { Page } from '@eloquentpoll/testkit/browser';
import { seed } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import type { Facts } from '../../src/discovery/documents/facts.ts';
import { pollFigures } from '../../src/discovery/documents/poll-figures.ts';
import { PAGE_HEADERS } from '../../src/pages/layout.ts';
import { assetPath } from '../../src/pages/page-assets.ts';
import { playgroundPage } from '../../src/pages/playground-page.ts';
import { resultPage, STRANGER } from '../../src/pages/result-page.ts';
import { hostileTexts } from '../fixtures/hostile-texts.ts';
import { madeUpResult } from '../fixtures/made-up-result.ts';
import { openSite } from '../fixtures/open-site.ts';

// slow: 7 s

// Hostile texts as question, options and names of models, on the real pages under their real policy, in a real browser:
// nothing runs, nothing asks to run, every element is one of ours, every text is what was sent, and no page gets wider
// than its window. HOSTILE_TEXTS=10000 for the long run.

const COUNT = Number(process.env.HOSTILE_TEXTS ?? 300);
const [OPTIONS, MODELS] = [10, 9];
const PER_PAGE = 1 + OPTIONS + 2 * MODELS;
const WIDTHS = [320, 1_280];

// The browser keeps nothing while requests are looked at, so each page loads all of its parts.
const site = await openSite(t, { rateLimits: readPolicies('read=1000000/60') });
const facts: Facts = { ...site.context, baseUrl: site.url, figures: await pollFigures(site.context) };

/** Runs before anything on a page can. */
const WITNESS = `window.ran = 0;
window.__ran = () => window.ran++;
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));`;

interface Seen {
  ran: number;
  violations: string[];
  elements: number;
  wide: number;
  texts: string[];
}

const seen = (root: string, texts: string): string => `({ ran, violations,
  elements: ${root}.querySelectorAll('*').length,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  texts: [...${root}.querySelectorAll(${JSON.stringify(texts)})].map((e) => e.value ?? e.textContent) })`;

const IN_RESULT = seen('document', '.question, .bars .name, .reason, th.mono');
const IN_FORM = seen('document', 'textarea, input[name=option]');
const inLive = (events: object): string => `(async () => {
  const { pollView } = await import('${assetPath('poll-view.js')}');
  const place = document.querySelector('#live-poll');
  const view = pollView(place);
  const { update, ended } = ${JSON.stringify(events)};
  view.update(update);
  view.ended(ended);
  return ${seen('place', '.asked, .bars .name, .votes .model')};
})()`;

let made = '';

/** A page that is served under the policy of all pages, or under none. */
async function witnessed(page: Page, headers: Record<string, string> = { ...PAGE_HEADERS }): Promise<Page> {
  await page.addInitScript(WITNESS);
  await page.route('**/made', (route) =>
    route.fulfill({ body: made, contentType: 'text/html; charset=utf-8', headers }),
  );
  return page;
}

async function show(page: Page, text: string, look: string): Promise<Seen> {
  made = text;
  await page.goto(`${site.url}/made`, { waitUntil: 'load' });
  return page.evaluate<Seen>(look);
}

function resultOf([question = '', ...rest]: readonly string[]): ResultDetail {
  // An option that is there already would have been refused.
  const options = rest.slice(0, OPTIONS).map((text, i, all) => (all.indexOf(text) < i ? `${i} ${text}` : text));
  const choices = Array.from({ length: MODELS }, (_, i) => i % OPTIONS);
  const result = madeUpResult({ question, options, choices, reasons: reasonsOf(rest) });
  const votes = result.votes.map((vote, i) => ({ ...vote, model_id: `${i} ${rest[OPTIONS + i]!}` }));
  return { ...result, votes };
}

/** Behind options and models. An empty one is none. */
const reasonsOf = (rest: readonly string[]): string[] => rest.slice(OPTIONS + MODELS).map((text) => text || '-');

/** One line is all that the field of an option can hold. */
const formOf = ([question = '', ...rest]: readonly string[]) => ({
  question,
  options: rest.slice(0, 5).map((text) => text.replace(/[\r\n]/g, '')),
});

async function showAll(page: Page, texts: readonly string[]): Promise<{ name: string; seen: Seen; sent: string[] }[]> {
  const result = resultOf(texts);
  const { question, options, votes, tally } = result;
  const form = formOf(texts);
  const update = { ...result, progress: { received: 1, failed: 0, total: MODELS }, leader: options[0], vote: votes[0] };
  const page1 = resultPage({
    facts,
    result,
    feedback: { total: 0, correct: 0, incorrect: 0 },
    reader: STRANGER,
    hasReceipt: true,
    thanks: false,
  });
  const asked = [question ?? '', ...options];
  const models = votes.map(({ model_id }) => model_id);
  return [
    {
      name: 'result',
      seen: await show(page, page1, IN_RESULT),
      sent: [...asked, ...reasonsOf(texts.slice(1)), ...models],
    },
    {
      name: 'form',
      seen: await show(page, playgroundPage(facts, form, texts[7]), IN_FORM),
      sent: [form.question, ...form.options],
    },
    {
      name: 'live',
      seen: await page.evaluate<Seen>(inLive({ update: { ...update, tally }, ended: result })),
      sent: [...asked, ...models],
    },
  ];
}

/** What every parser of HTML makes of line breaks. */
const parsed = (text: string): string => text.replace(/\r\n?/g, '\n');

t.test(`${COUNT} hostile texts stay texts [seed ${seed}]`, async (t) => {
  const texts = hostileTexts(Math.ceil(COUNT / PER_PAGE) * PER_PAGE, seed);
  const page = await witnessed(await site.open('/logo.svg'));
  const calm = await showAll(
    page,
    Array.from({ length: PER_PAGE }, (_, i) => `A calm text ${i}`),
  );
  const faults: string[] = [];
  for (let at = 0; at < texts.length; at += PER_PAGE) {
    await page.setViewportSize({ width: WIDTHS[(at / PER_PAGE) % WIDTHS.length]!, height: 900 });
    for (const [i, { name, seen, sent }] of (await showAll(page, texts.slice(at, at + PER_PAGE))).entries()) {
      if (seen.ran > 0) faults.push(`${name}: something ran`);
      for (const directive of seen.violations) faults.push(`${name}: ${directive} was violated`);
      if (seen.wide > 0) faults.push(`${name}: ${seen.wide} pixels too wide, from text ${at} on`);
      if (seen.elements !== calm[i]!.seen.elements) faults.push(`${name}: elements that are not ours`);
      for (const [k, text] of sent.entries())
        if (parsed(seen.texts[k] ?? '') !== parsed(text))
          faults.push(`${name}: ${JSON.stringify(seen.texts[k])} for ${JSON.stringify(text)}`);
    }
  }
  t.same(faults, []);
});

t.test('what would run is noticed, with the policy and without', async (t) => {
  const context = await site.browser.newContext();
  const markup = '<!doctype html><img src=x onerror="__ran()"><script>__ran()</script>';
  const guarded = await show(await witnessed(await context.newPage()), markup, IN_RESULT);
  t.equal(guarded.ran, 0);
  t.ok(guarded.violations.length >= 2);
  const open = await show(await witnessed(await context.newPage(), {}), markup, IN_RESULT);
  t.ok(open.ran >= 1);
  await context.close();
});
