import { Buffer } from 'node:buffer';
import type { Page } from '@eloquentpoll/testkit/browser';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { seed } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { hostileTexts } from '../fixtures/hostile-texts.ts';
import { openSite } from '../fixtures/open-site.ts';
import { openDashboard } from '../fixtures/signed-in.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 9 s

// Two accounts with the same in them, one in calm texts and one in hostile ones: names of keys, batches and files, custom
// ids, metadata, descriptions, questions and options. Their pages have the same elements, and every text as it was sent.

const webhooks = { sealingKeys: ['a sealing key of 32 characters ..'], toLoopback: false };
const site = await openSite(t, { rateLimits: readPolicies('read=1000000/60'), webhooks });
const { app, context } = site;
await standInWorker(t, context);
// Every model is right: who sits first is drawn for each poll, and the report of a split panel draws what that seat was worth.
await standInWorker(t, context, { lane: 'flex', opinion: () => 1 });
const runner = keepBatchesRunning(context, 100);
t.teardown(() => runner[Symbol.asyncDispose]());

const NEEDED = 24;
const WIDTHS = [320, 1_280];

/** What the API takes: it refuses characters that are not seen. */
const takenTexts = (): string[] =>
  hostileTexts(20 * NEEDED, seed)
    .filter((text) => !/[\p{C}\p{Zl}\p{Zp}\n]/u.test(text) && text.trim() === text && text.length > 3)
    .slice(0, NEEDED);

interface Furnished {
  accountId: string;
  /** By the path of a page, what is on it. */
  pages: [name: string, path: string, texts: readonly string[]][];
  fileName: string;
}

async function furnish(texts: readonly string[]): Promise<Furnished> {
  const { accountId } = await site.keyWith(50);
  const headers = await site.sessionFor(accountId);
  const left = [...texts];
  const next = (chars = 200) => [...left.shift()!].slice(0, chars).join('');
  const post = async (url: string, payload: object) => {
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.body} for ${JSON.stringify(payload)}`);
    return answer.json();
  };
  const keyName = next(80);
  await post('/api/keys', { label: keyName });
  const [question, first, second, labelName, label] = [
    `Which is it? ${next()}`,
    `1 ${next()}`,
    next(),
    next(40),
    next(),
  ];
  const poll = await post('/api/poll', { question, options: [first, second], metadata: { [labelName]: label } });
  const description = next(80);
  const endpoint = await post('/api/webhook-endpoints', {
    ...{ url: 'https://hooks.example.com/x', description, event_types: ['poll.completed'] },
  });
  const [batchName, customId, other, gold, asked] = [next(80), next(60), `2 ${next(60)}`, `3 ${next()}`, next()];
  const row = (id: string) => ({ custom_id: id, question: `Which row? ${asked}`, options: ['A', gold], gold });
  const { batch_id: batchId } = await post('/api/batches', {
    ...{ requests: [row(customId), row(other)], metadata: { name: batchName }, preset: 'fast' },
  });
  const stands = async () => (await app.inject({ url: `/api/batches/${batchId}`, headers })).json().ended_at;
  await eventually('the batch has ended', async () => (await stands()) !== null, 20_000);
  const [line] = (await app.inject({ url: '/api/polls?preset=broad', headers })).json().polls;
  const [key] = (await app.inject({ url: '/api/keys', headers })).json();
  const labels = [`${labelName}=${[...label].slice(0, 120).join('')}`];
  const asBeginning = (text: string) => [...text].slice(0, 120).join('').trimEnd();
  const batch = `/dashboard/batches/${batchId}`;
  return {
    accountId,
    pages: [
      ['overview', '/dashboard', [asBeginning(question), ...labels]],
      ['history', '/dashboard/polls', [asBeginning(question), first, ...labels]],
      ['found', `/dashboard/polls?q=${encodeURIComponent(question)}`, [question, first]],
      ['delete', `/dashboard/polls/delete?id=${line.session_id}`, [asBeginning(question)]],
      ['result', `/result/${poll.poll_id}`, [question, first, second]],
      ['run', `/dashboard?${new URLSearchParams({ question, option: first })}`, [question, first]],
      ['keys', '/dashboard/keys', [keyName]],
      ['key', `/dashboard/keys/${key.id}`, [keyName]],
      ['revoke', `/dashboard/keys/${key.id}/revoke`, [keyName]],
      ['usage', '/dashboard/usage', [keyName]],
      ['batches', '/dashboard/batches', [batchName]],
      ['batch', batch, [batchName, customId, other, gold, asBeginning(`Which row? ${asked}`)]],
      ['report', `${batch}/report`, []],
      ['webhooks', '/dashboard/webhooks', [description]],
      ['webhook', `/dashboard/webhooks/${endpoint.endpoint_id}`, [description]],
    ],
    fileName: `${next(60).replaceAll('/', '_')}.jsonl`,
  };
}

interface Seen {
  ran: number;
  elements: number;
  wide: number;
  text: string;
}

const SEEN = `({ ran: window.ran,
  elements: document.querySelectorAll('*').length,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  text: document.body.textContent + [...document.querySelectorAll('input, textarea')].map((e) => e.value).join('\\n') })`;

async function signedIn(accountId: string): Promise<Page> {
  const page = await openDashboard(site, accountId, {}, '/logo.svg');
  await page.addInitScript('window.ran = 0; window.__ran = () => window.ran++;');
  return page;
}

async function look({ accountId, pages }: Furnished): Promise<Map<string, Seen>> {
  const page = await signedIn(accountId);
  const seen = new Map<string, Seen>();
  for (const [name, path] of pages)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const answer = await page.goto(path, { waitUntil: 'load' });
      if (answer?.status() !== 200) throw new Error(`${name}: ${answer?.status()}`);
      if (name === 'run') await page.locator('.estimate .field-error, .estimate .figures').first().waitFor();
      seen.set(`${name}, ${width} wide`, await page.evaluate<Seen>(SEEN));
    }
  return seen;
}

const calm = await furnish(Array.from({ length: NEEDED }, (_, i) => `A calm text ${i}`));
const hostile = await furnish(takenTexts());

t.test(`hostile texts stay texts on every page of the dashboard [seed ${seed}]`, async (t) => {
  const [before, after] = [await look(calm), await look(hostile)];
  for (const { pages } of [calm, hostile])
    for (const [name, , texts] of pages) {
      const seen = (pages === calm.pages ? before : after).get(`${name}, 320 wide`)!;
      for (const text of texts) t.ok(seen.text.includes(text), `${name}: ${JSON.stringify(text)}`);
    }
  for (const [name, { ran, elements, wide }] of after)
    t.same({ ran, elements, wide }, { ran: 0, elements: before.get(name)!.elements, wide: 0 }, name);
});

t.test('names of files and errors in rows stay texts, too', async (t) => {
  const [first, second] = takenTexts();
  const rows = [first, second].map((text) => JSON.stringify({ custom_id: text, question: text, options: ['A'] }));
  const seen: Seen[] = [];
  for (const { accountId, fileName } of [calm, hostile]) {
    const page = await signedIn(accountId);
    await page.goto('/dashboard/batches');
    await page.getByLabel('Or a file').setInputFiles({
      ...{ name: fileName, mimeType: 'application/jsonl', buffer: Buffer.from(rows.join('\n')) },
    });
    await page.getByText('errors in the rows').waitFor();
    seen.push(await page.evaluate<Seen>(SEEN));
  }
  const [calmly, hostilely] = seen;
  t.ok(hostilely!.text.includes(first!) && hostilely!.text.includes(second!), 'errors say the rows');
  t.match(hostilely, { ran: 0, wide: 0, elements: calmly!.elements });
});
