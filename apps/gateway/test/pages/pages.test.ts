import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { percent } from '../../src/pages/figures.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { openSite } from '../fixtures/open-site.ts';
import { draw } from '../fixtures/page-problems.ts';

// slow: 3 s

const site = await openSite(t);
const { app, context, keyWith, sessionFor } = site;

/** The poll that was begun last, run by hand. */
async function newestPoll() {
  const running = context.storage.db.selectFrom('polls').select('id').where('status', '=', 'running');
  const newest = running.orderBy('created_at', 'desc').limit(1);
  const { id } = await eventually('a poll runs', () => newest.executeTakeFirst());
  return takePoll(context, id);
}

t.test('shares below all are never published as all', async (t) => {
  t.same(
    [percent(0.9975), percent(0.99996, 1), percent(1), percent(1, 1), percent(0.994), percent(null)],
    ['99%', '99.9%', '100%', '100.0%', '99%', '–'],
  );
});

t.test('the page of an error advises what its operation does', async (t) => {
  const pageOf = async (code: string) =>
    (await app.inject({ url: `/errors/${code}`, headers: { accept: 'text/html' } })).body;
  const open = await pageOf('deposit_in_progress');
  t.match(open, 'the same payment again');
  t.notMatch(open, 'the same Idempotency-Key');
  for (const code of ['payment_required', 'payment_amount_mismatch', 'payment_expired'])
    t.match(await pageOf(code), /sign a payment with exactly these terms/, code);
  for (const code of ['payment_required', 'payment_already_used'])
    t.notMatch(await pageOf(code), 'Lower the maximum cost', code);
  t.match(await pageOf('insufficient_balance'), 'Lower the maximum cost');
  t.match(await pageOf('service_unavailable'), 'with the same Idempotency-Key if the operation supports it');
});

t.test(
  '[§4.7-page-result, §1-way-quick-free] a free poll in the browser: bars move, and lead to the result',
  async (t) => {
    const page = await site.open('/playground');
    await page.getByLabel('Question').fill('Which of these is the best?');
    for (const [i, option] of ['Alpha', 'Beta'].entries()) await page.getByLabel(`Option ${i + 1}`).fill(option);
    await page.getByRole('button', { name: 'Ask the models' }).click();

    const poll = await newestPoll();
    const rows = page.locator('#live-poll .bar-row');
    await poll.open();
    const count = (i: number, text: string) => rows.nth(i).locator('.count').getByText(text, { exact: true }).waitFor();
    const width = (i: number) => rows.nth(i).locator('rect').getAttribute('width');
    await poll.vote(0);
    await count(0, '1');
    t.same([await width(0), await width(1)], ['20.0%', '0.0%'], 'on the scale of the panel');
    await poll.vote(1);
    await poll.vote(1);
    await count(1, '2');
    t.same([await width(0), await width(1)], ['20.0%', '40.0%'], 'the bars have moved');
    t.equal(await page.locator('.odds-line.colour-1').count(), 3, 'one piece of a line for each vote');
    t.equal(await page.locator('.odds .threshold').count(), 1);
    t.match(page.url(), /\/result\/EP-/, "the address is the result's while it runs");
    await draw(page, 'live-running');
    const { poll_id } = await poll.end();

    await page.getByRole('link', { name: 'View and share' }).waitFor();
    await draw(page, 'live-ended');
    await page.getByRole('link', { name: 'View and share' }).click();
    await page.waitForURL(`**/result/${poll_id}`);
    t.equal(await page.locator('h1').textContent(), 'Which of these is the best?');
    t.equal(await page.locator('.verdict .headline').textContent(), 'Beta: 2 of 3, stopped early');
    t.equal(await page.locator('th.mono').count(), 3);
    t.equal(await page.locator('.graph .edge').count(), 3);
    const picture = await page.locator('meta[property="og:image"]').getAttribute('content');
    const answer = await fetch(picture!);
    t.same([answer.status, answer.headers.get('content-type')], [200, 'image/png']);
  },
);

t.test('the same without scripts', async (t) => {
  const page = await site.open('/?view=human', { javaScriptEnabled: false });
  await page.getByLabel('Question').fill('Is this asked by a form?');
  for (const [i, option] of ['Yes', 'No', '', ''].entries()) await page.getByLabel(`Option ${i + 1}`).fill(option);
  const answered = page.getByRole('button', { name: 'Ask the models' }).click({ noWaitAfter: true });
  const poll = await newestPoll();
  await poll.vote(0);
  const { poll_id } = await poll.end();
  await answered;
  await page.waitForURL(`**/result/${poll_id}`);
  t.match(await page.locator('.verdict .headline').textContent(), /Yes/);
});

t.test('a form that says too little comes back as it was filled in, with what to mend', async (t) => {
  const sent = await site.app.inject({
    method: 'POST',
    url: '/playground',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'question=Which+%3Cb%3E+is+best%3F&option=one&option=',
  });
  t.equal(sent.statusCode, 400);
  t.match(sent.headers['content-type'], 'text/html');
  t.match(sent.body, 'Which &lt;b&gt; is best?</textarea>');
  t.match(sent.body, 'role="alert">Add one more option.');
});

t.test('a form on a page of another site spends no free poll of its visitor', async (t) => {
  const remoteAddress = '203.0.113.9';
  const before = await site.context.limiter.take('free_poll', remoteAddress);
  const sent = await site.app.inject({
    method: 'POST',
    url: '/playground',
    remoteAddress,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' },
    payload: 'question=Which+of+these+is+best%3F&option=one&option=',
  });
  t.match([sent.statusCode, sent.json().code], [403, 'forbidden_origin']);
  const after = await site.context.limiter.take('free_poll', remoteAddress);
  t.equal(after.remaining, before.remaining - 1, 'only the calls of this test are counted');
});

t.test('what people say about a result, once they are signed in', async (t) => {
  const { accountId } = await keyWith(0);
  const asked = fetch(`${site.url}/api/quick-poll`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ question: 'Was this one right?', options: ['Yes', 'No'] }),
  });
  const poll = await newestPoll();
  await poll.vote(0);
  const { poll_id } = await poll.end();
  await asked;

  const page = await site.open(`/result/${poll_id}`);
  await page.getByText('to leave feedback (one per account)').waitFor();
  const { cookie } = await sessionFor(accountId);
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: site.url }]);
  await page.goto(`/result/${poll_id}`);
  await page.getByRole('button', { name: 'It was right' }).click();
  await page.getByText('1 yes, 0 no').waitFor();
  t.match(page.url(), '?feedback=thanks#feedback');
});

t.test(
  'an agent inside the browser is offered a free poll, by the present name of the API or the one before',
  async (t) => {
    for (const holder of ['document', 'navigator']) {
      const page = await site.open('/logo.svg');
      await page.addInitScript(
        `Object.defineProperty(${holder}, 'modelContext', { value: { registerTool: async (tool) => { window.offered = tool; } } })`,
      );
      await page.goto('/?view=human');
      await page.waitForFunction('window.offered');
      t.match(await page.evaluate('({ name: offered.name, required: offered.inputSchema.required })'), {
        name: 'quick_poll',
        required: ['question'],
      });
      const input =
        holder === 'document'
          ? "{ question: 'Is the sea salty?' }"
          : "{ question: 'Which is it?', options: ['No', 'Yes'] }";
      const answered = page.evaluate(`offered.execute(${input})`);
      const poll = await newestPoll();
      await poll.vote(1);
      await poll.end();
      const winner = holder === 'document' ? 'No' : 'Yes';
      t.match(await answered, {
        isError: false,
        content: [{ type: 'text', text: new RegExp(`"answer":"${winner}"`) }],
      });
    }
  },
);

t.test('an unknown result id: 404 page', async (t) => {
  const path = '/result/EP-2026-01-31-4q7x2mfzk5wtb3ha';
  const page = await site.open(path);
  t.equal(await page.locator('h1').textContent(), 'No such result');
  const answer = await site.app.inject({ url: path });
  t.equal(answer.statusCode, 404);
  t.match(answer.headers['content-type'], 'text/html');
  const forPrograms = await site.app.inject({ url: path, headers: { accept: 'application/json' } });
  t.equal(forPrograms.statusCode, 404);
  t.match(forPrograms.json(), { code: 'result_not_found' });
});

t.test('an address that leads nowhere', async (t) => {
  const page = await site.open('/nowhere');
  t.equal(await page.locator('h1').textContent(), 'No such page');
  t.equal((await page.goto('/nowhere'))!.status(), 404);
  t.equal(await page.locator('[aria-current]').count(), 0, 'the menu does not say that this is a page of it');
  t.notMatch(await page.locator('main').textContent(), 'Did you mean');
  await page.goto('/Prices?from=here');
  await page.getByRole('link', { name: 'Pricing' }).last().click();
  await page.getByRole('heading', { name: 'Pricing', exact: true }).waitFor();
  for (const [url, accept] of [
    ['/nowhere', 'application/json'],
    ['/nowhere', '*/*'],
    ['/api/nowhere', 'text/html'],
  ] as const)
    t.match((await site.app.inject({ url, headers: { accept } })).json(), { code: 'not_found' });
});
