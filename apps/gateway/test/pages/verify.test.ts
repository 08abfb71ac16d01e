import type { Page } from '@eloquentpoll/testkit/browser';
import t from 'tap';
import { openSite, type Site } from '../fixtures/open-site.ts';
import { HOLDING } from '../fixtures/receipt-parts.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 8 s

// The Verify button of a result page: what it says is worked out in the browser.

const site = await openSite(t);
await standInWorker(t, site.context, { opinion: (seat) => (seat === 1 ? null : seat < 4 ? 1 : 0) });

async function polled({ app, keyWith }: Site): Promise<string> {
  const { bearer } = await keyWith(1);
  const payload = { question: 'Which of these is the best choice?', options: ['A', '<b>B</b>'] };
  return (await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).json().poll_id;
}

async function verify(page: Page): Promise<Record<string, string>> {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.locator('[data-parts] .notice').waitFor();
  const parts = await page.locator('[data-part]').all();
  const states = parts.map(async (part) => [
    await part.getAttribute('data-part'),
    await part.getAttribute('data-state'),
  ]);
  return Object.fromEntries(await Promise.all(states));
}

t.test('a reader presses Verify, and the browser works out every part', async (t) => {
  const page = await site.open(`/result/${await polled(site)}`);
  t.same(await verify(page), HOLDING);
  t.equal(await page.locator('[data-parts] .notice').textContent(), 'Everything that can be checked is valid.');
  t.match(
    await page.locator('[data-part=signature]').textContent(),
    /ValidSignatureEd25519: the statement is as it was signed\./,
  );
});

t.test('a page or a receipt that says something else names the part', async (t) => {
  const id = await polled(site);
  const page = await site.open(`/result/${id}`);
  await page.route(`**/api/results/${id}`, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), winning_option: '<b>B</b>' } });
  });
  t.same(await verify(page), { ...HOLDING, result: 'fails' });
  t.match(
    await page.locator('[data-part=result]').textContent(),
    /Not validThis pageThe published outcome is another\./,
  );

  await page.unroute(`**/api/results/${id}`);
  await page.route('**/receipt', async (route) => {
    const answer = await route.fetch();
    const receipt = await answer.json();
    const statement = JSON.parse(Buffer.from(receipt.payload, 'base64url').toString());
    statement.decision.tally[1] += 1;
    await route.fulfill({
      response: answer,
      json: { ...receipt, payload: Buffer.from(JSON.stringify(statement)).toString('base64url') },
    });
  });
  t.same(await verify(page), { ...HOLDING, signature: 'fails', tally: 'fails', result: 'fails' });
  t.equal(await page.locator('[data-parts] .notice').textContent(), 'This receipt is not valid.');
});

t.test('a result from before receipts offers none, and a service that is away is said', async (t) => {
  const id = await polled(site);
  const page = await site.open(`/result/${id}`);
  await page.route('**/jwks.json', (route) => route.fulfill({ status: 404 }));
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('could not be checked here').waitFor();
  await site.asOwner(`update results set receipt_leaf = null where result_id = '${id}'`);
  await page.reload();
  t.equal(await page.getByRole('button', { name: 'Verify' }).count(), 0);
});
