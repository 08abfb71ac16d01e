import { randomUUID } from 'node:crypto';
import { admitIdentity, creditAccount } from '@eloquentpoll/storage';
import type { Page } from '@eloquentpoll/testkit/browser';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import { Wallet } from 'ethers';
import t from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { openTestDeposits } from '../fixtures/deposits.ts';
import { openSite } from '../fixtures/open-site.ts';
import { draw, LOOKS, MAX_BYTES, problemsOf } from '../fixtures/page-problems.ts';
import { logIn } from '../fixtures/signed-in.ts';
import { type Opinion, standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 6 s

// The dashboard with everything in it, for every eye and every width: as it is loaded, and after a key was made, a poll
// run and a question asked.

const { deposits } = await openTestDeposits(t);
const { settings: checkout } = await fakeStripe(t);
const site = await openSite(t, { checkout }, { deposits });
const { app, context } = site;
const opinion: Opinion = (seat) => (seat === 2 ? null : seat % 3 === 0 ? 1 : 0);
await standInWorker(t, context, { announcesVotes: true, opinion });
await standInWorker(t, context, { lane: 'flex', opinion, notesArrivals: true });
const runner = keepBatchesRunning(context, 100);
t.teardown(() => runner[Symbol.asyncDispose]());

const address = Buffer.from(Wallet.createRandom().address.slice(2), 'hex');
const { accountId } = await admitIdentity(context.storage, { kind: 'wallet', address });
await creditAccount(context.storage, { accountId, amountU: 12_345_600n, source: 'operator', idem: randomUUID() });
const headers = await site.sessionFor(accountId);
const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers, payload });
for (const label of ['Build server', 'A notebook with a long name that took some time to think of', ''])
  await post('/api/keys', { label });
const [newest] = (await app.inject({ url: '/api/keys', headers })).json();
await app.inject({ method: 'DELETE', url: `/api/keys/${newest.id}`, headers });
for (let i = 0; i < 21; i++) {
  const options = ['The first', `Another one, with ${'a lot to say '.repeat(i % 7)}`];
  await post('/api/poll', {
    question: `Which of these is number ${i}?`,
    options: i % 2 ? options : options.toReversed(),
  });
}
const requests = Array.from({ length: 40 }, (_, i) => ({
  ...{ custom_id: `row ${i}`, question: `Which of these is it in row ${i}?`, options: ['This', 'That'] },
  ...{ gold: i % 3 ? 'This' : 'That', preset: i % 2 ? 'fast' : 'broad', confidence_threshold: 1 },
}));
const sent = await post('/api/batches', { requests, metadata: { name: 'Reviews of November' } });
const batch = `/dashboard/batches/${sent.json().batch_id}`;
const report = async () => (await app.inject({ url: `${batch.replace('/dashboard', '/api')}/report`, headers })).json();
await eventually('the report is complete', async () => (await report()).complete, 20_000);

/** Brings the page to the state that it has after some use. */
async function use(page: Page): Promise<void> {
  await page.getByLabel('Question').fill('Which database should a small team start with?');
  await page.getByLabel('Options, one per line').fill('Postgres\nMongoDB\nSQLite');
  await page.locator('.figures').waitFor();
  await page.getByRole('button', { name: 'Run poll' }).click();
  await page.getByRole('link', { name: 'View and share' }).waitFor();
  await page.getByRole('tab', { name: 'USDC' }).click();
  await page.getByText('Terms of a deposit').click();
}

for (const { colorScheme, width } of LOOKS) {
  t.test(`the dashboard, ${width} wide, ${colorScheme}`, async (t) => {
    const page = await site.open('/logo.svg', { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await logIn(site, accountId, page);
    const look = async (name: string) => {
      t.same(await problemsOf(page), [], name);
      await draw(page, `${name}-${width}-${colorScheme}`);
    };
    const answer = await page.goto('/dashboard?checkout=cancelled');
    t.ok((await answer!.body()).length < MAX_BYTES);
    await use(page);
    await look('dashboard');
    await page.goto('/dashboard/polls?q=which&preset=broad');
    await look('dashboard-polls');
    await page.goto('/dashboard/keys');
    await look('dashboard-keys');
    await page
      .getByRole('link', { name: /^Change/ })
      .first()
      .click();
    await look('dashboard-key');
    await page.goto('/dashboard/usage');
    await look('dashboard-usage');
    await page.goto(batch);
    await look('dashboard-batch');
    await page.getByRole('link', { name: 'Report' }).click();
    await page.getByRole('heading', { name: 'Each model alone' }).first().waitFor();
    await look('dashboard-report');
    await page.goto('/dashboard/polls');
    for (const box of (await page.getByRole('checkbox', { name: /^Check: / }).all()).slice(0, 3)) await box.check();
    await page.getByRole('button', { name: 'Delete the checked' }).click();
    await page.getByRole('heading', { name: 'Delete these polls?' }).waitFor();
    await look('dashboard-delete');
    await page.getByRole('link', { name: 'Keep them' }).click();
    await page.locator('#history a[href^="/result/"]').first().click();
    await page.waitForURL('**/result/EP-*');
    await look('dashboard-result');
  });
}
