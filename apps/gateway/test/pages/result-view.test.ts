import type { Page } from '@eloquentpoll/testkit/browser';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { verdictText } from '@eloquentpoll/voting/verdict';
import t from 'tap';
import { pollFigures } from '../../src/discovery/documents/poll-figures.ts';
import { cursorText } from '../../src/pages/browser/odds-cursor.ts';
import { cutToWidth, xOf, yOf } from '../../src/pages/browser/odds-scale.ts';
import { oddsSeries } from '../../src/pages/browser/odds-series.ts';
import { afterEnd, type EndEvent, NOTHING_YET } from '../../src/pages/browser/poll-events.ts';
import { verdictOn } from '../../src/pages/browser/poll-picture.ts';
import { PAGE_HEADERS } from '../../src/pages/layout.ts';
import { resultPage, STRANGER } from '../../src/pages/result-page.ts';
import { pictureOf } from '../../src/pages/result-picture.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { type MadeUp, madeUpResult } from '../fixtures/made-up-result.ts';
import { openSite } from '../fixtures/open-site.ts';
import { logIn } from '../fixtures/signed-in.ts';

// slow: 12 s

// What a reader sees at once, and whether it is true: verdict in the window, no certainty over a narrow vote, lines of the
// options that they are named after, and a poll at one address from its first second to its result.

const site = await openSite(t);
const { context } = site;
const figures = await pollFigures(context);

/** The poll that was begun last, run by hand. */
async function newestPoll() {
  const running = context.storage.db.selectFrom('polls').select('id').where('status', '=', 'running');
  const newest = running.orderBy('created_at', 'desc').limit(1);
  const { id } = await eventually('a poll runs', () => newest.executeTakeFirst());
  return takePoll(context, id);
}

/** SQLite leads, then MongoDB for one vote, and SQLite wins by one. */
const REVERSAL = {
  question: 'Which database should a small team start with?',
  options: ['SQLite', 'MongoDB', 'Postgres'],
  choices: [0, 0, 1, 1, 0, 1, 1, 0, 0],
  unasked: 0,
  reason: 'mathematical_lock',
} satisfies MadeUp;

const pageOf = ({ expiresAt, ...made }: MadeUp & { expiresAt?: string }): string =>
  resultPage({
    facts: { baseUrl: site.url, figures },
    result: { ...madeUpResult(made), ...(expiresAt !== undefined && { expires_at: expiresAt }) },
    feedback: { total: 0, correct: 0, incorrect: 0 },
    reader: STRANGER,
    hasReceipt: true,
    thanks: false,
  });

async function openMade(made: MadeUp & { expiresAt?: string }, options = {}): Promise<Page> {
  const page = await site.open('/logo.svg', options);
  await page.route('**/made', (route) =>
    route.fulfill({ body: pageOf(made), contentType: 'text/html; charset=utf-8', headers: { ...PAGE_HEADERS } }),
  );
  await page.goto('/made');
  return page;
}

const inWindow = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const { top, bottom } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  })()`);

const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

for (const viewport of SIZES)
  for (const path of ['/', '/playground', '/?view=human'])
    t.test(
      `${path}, ${viewport.width} wide: the verdict is inside the window when the poll ends, and has the focus`,
      async (t) => {
        const page = await site.open(path, { viewport });
        await page.getByLabel('Question').fill('Which of these is the best one?');
        const fields = page.locator('input[name=option]');
        for (const [i, option] of ['Alpha', 'Beta'].entries()) await fields.nth(i).fill(option);
        await page.getByLabel('Question').press('Control+Enter');
        const poll = await newestPoll();
        await poll.open();
        for (const option of [0, 1, 0]) await poll.vote(option);
        await poll.end();
        await page.getByRole('link', { name: 'View and share' }).waitFor();
        t.ok(await inWindow(page, '#live-poll .headline'));
        t.equal(await page.locator(':focus').textContent(), await page.locator('#live-poll .headline').textContent());
      },
    );

t.test('a poll is at the address of its result from its first second: reload, a colleague, Back', async (t) => {
  const page = await site.open('/playground');
  await page.getByLabel('Question').fill('Which of these is the best one?');
  for (const [i, option] of ['Alpha', 'Beta'].entries()) await page.getByLabel(`Option ${i + 1}`).fill(option);
  await page.getByRole('button', { name: 'Ask the models' }).click();
  const poll = await newestPoll();
  await poll.open();
  await poll.vote(0);
  await page.waitForURL('**/result/EP-*');
  const address = page.url();

  await page.reload();
  await page.locator('.headline').getByText('Leading: Alpha, 1 of 1').waitFor();
  const colleague = await site.open(new URL(address).pathname);
  const plain = await site.open(new URL(address).pathname, { javaScriptEnabled: false });
  t.equal(await plain.locator('.headline').textContent(), 'Leading: Alpha, 1 of 1', 'and without scripts');
  await poll.vote(1);
  for (const each of [page, colleague]) await each.locator('.headline').getByText('Level so far').waitFor();
  await page.goto('/models');
  await page.goBack();
  t.equal(page.url(), address);
  await page.locator('.headline').getByText('Level so far').waitFor();
  await poll.vote(0);
  const { poll_id } = await poll.end();
  t.match(address, poll_id);
  for (const each of [page, colleague]) {
    await each.getByRole('heading', { name: 'Every vote' }).waitFor();
    t.equal(await each.locator('th.mono').count(), 3);
    t.equal(each.url(), address);
  }
  await plain.reload();
  await plain.getByRole('heading', { name: 'Every vote' }).waitFor();
});

t.test('a link within the page loads nothing anew after two polls; Back loads the first', async (t) => {
  const page = await site.open('/playground');
  const addresses: string[] = [];
  for (const question of ['Which of these is the best one?', 'Which of these is the worst one?']) {
    await page.getByLabel('Question').fill(question);
    if (addresses.length === 0)
      for (const [i, option] of ['Alpha', 'Beta'].entries()) await page.getByLabel(`Option ${i + 1}`).fill(option);
    await page.getByLabel('Question').press('Control+Enter');
    const poll = await newestPoll();
    await poll.open();
    for (const option of [0, 0, 0]) await poll.vote(option);
    const { poll_id } = await poll.end();
    await page.waitForURL(`**/result/${poll_id}`);
    await page.locator('#live-poll').getByRole('link', { name: 'View and share' }).waitFor();
    addresses.push(page.url());
    if (addresses.length === 1) await page.getByRole('button', { name: 'Edit and ask again' }).click();
  }
  await page.evaluate('window.isSameDocument = true');
  await page.evaluate("location.hash = '#main'");
  await page.waitForURL('**#main');
  await page.waitForTimeout(200);
  t.equal(await page.evaluate('window.isSameDocument'), true);
  await page.goBack();
  await page.goBack();
  await page.getByRole('heading', { name: 'Every vote' }).waitFor();
  t.equal(page.url(), addresses[0]);
});

t.test('a paid poll that runs is shown to its owner alone, and costs are in no event', async (t) => {
  const { accountId, bearer } = await site.keyWith(5);
  const payload = { question: 'Which of these is the best one?', options: ['Alpha', 'Beta'] };
  await site.app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload });
  const poll = await newestPoll();
  await poll.open();
  await poll.vote(0);
  const path = `/result/${poll.claim.resultId}`;
  t.equal((await site.app.inject({ url: path })).statusCode, 404);
  t.equal((await site.app.inject({ url: `${path}/events` })).statusCode, 404);
  t.equal(
    (await site.app.inject({ url: path, headers: await site.sessionFor((await site.keyWith(0)).accountId) }))
      .statusCode,
    404,
  );
  const page = await site.open('/logo.svg');
  await logIn(site, accountId, page);
  await page.goto(path);
  await page.locator('.headline').getByText('Leading: Alpha, 1 of 1').waitFor();
  await poll.vote(0);
  await page.locator('.headline').getByText('Leading: Alpha, 2 of 2').waitFor();
  const { cookie } = await site.sessionFor(accountId);
  const events = await fetch(`${site.url}${path}/events`, { headers: { cookie } });
  await poll.vote(0);
  await poll.end();
  const text = await events.text();
  t.match(text, /"estimated_cost":0,.*event: complete/s);
  t.notMatch(text, /"estimated_cost":(?!0[,}])|total_estimated_cost/, 'neither in the first event nor in a later one');
  await page.getByRole('heading', { name: 'Every vote' }).waitFor();
});

t.test('no page is certain about a margin of one vote without saying so', async (t) => {
  const page = await openMade(REVERSAL);
  const text = await page.locator('main').textContent();
  t.match(text, 'SQLite, narrowly: 5 of 9');
  t.match(text, 'One switched vote would change the winner');
  for (const made of [
    REVERSAL,
    { ...REVERSAL, isOld: true },
    { choices: [0, 0, 0], unasked: 6 },
    { choices: [0, 1], unasked: 0 },
  ])
    t.notMatch(pageOf(made), /100\s?%[^"]*</, 'certainty is called final');
});

t.test('a line belongs to its option, where the leader changed as well', async (t) => {
  const picture = pictureOf(madeUpResult(REVERSAL));
  const page = await openMade(REVERSAL);
  for (const { name, kind, points } of oddsSeries(picture)) {
    const drawn = await page
      .locator(`.odds-line.${kind}`)
      .evaluateAll((lines) =>
        lines.map((line) => ['x1', 'y1', 'x2', 'y2'].map((attribute) => line.getAttribute(attribute))),
      );
    const wanted = points.slice(1).map((to, i) => {
      const from = points[i]!;
      return [xOf(from.received, 9), String(yOf(from.chance)), xOf(to.received, 9), String(yOf(to.chance))];
    });
    t.same(drawn, wanted, name);
  }
  const [sqlite, mongo] = oddsSeries(picture);
  t.equal(sqlite!.points.length, 10, 'before any vote, and after each');
  t.ok(sqlite!.points[7]!.chance < 0.25 && mongo!.points[7]!.chance > 0.7, 'MongoDB leads after seven votes');
  t.ok(Math.abs(sqlite!.points[0]!.chance - mongo!.points[0]!.chance) < 1e-12, 'all begin equal');
  await page.locator('.odds-plot').focus();
  for (let back = 0; back < 3; back++) await page.keyboard.press('ArrowLeft');
  t.match(await page.locator('.odds [aria-live]').textContent(), /After 7 votes, .*MongoDB.*MongoDB 7\d%/s);
  const plot = (await page.locator('.odds-plot .lines').boundingBox())!;
  await page.mouse.move(plot.x + plot.width * 0.01, plot.y + 60);
  await page.locator('.cursor').getByText('Before the first vote').waitFor();
  await page.mouse.move(plot.x + plot.width * 0.99, plot.y + 60);
  await page.locator('.cursor').getByText('After vote 9 of 9').waitFor();
  await page.mouse.move(plot.x, 5);
  await page.locator('.cursor').waitFor({ state: 'detached' });
  await page.getByText('As a table').click();
  t.match(await page.locator('.odds-table tbody tr').nth(7).textContent(), /MongoDB/);
  await page.locator('.odds-plot').focus();
  await page.keyboard.press('ArrowLeft');
  t.ok(await page.locator('.odds-table').evaluate((table) => table.hasAttribute('open')), 'it stays open');
});

t.test('the live view says of a poll that was canceled between two calls what its result page says', async (t) => {
  const canceled = 'The poll was canceled: 2 of 3 models were not asked.';
  const event = {
    ...{ poll_id: 'EP-1', question: 'Which?', options: ['A', 'B'], tally: { A: 1, B: 0 }, models_skipped: 2 },
    ...{ termination_reason: null, confidence: null, confidence_threshold: 0.95, winning_option: 'A' },
    votes: [{ model_id: 'm', chosen_option: 'A', latency_ms: 5, error: null }],
  };
  const said = (verdict?: EndEvent['verdict']) =>
    verdictText(verdictOn(afterEnd(NOTHING_YET, { ...event, ...(verdict && { verdict }) })));
  const headline = 'A: 1 of 1, incomplete';
  t.match(said({ headline, text: `${headline}\n${canceled}` }), canceled);
  t.match(
    said({ headline, text: `${headline}\nThe poll ran out of time: 2 of 3 models were not asked.` }),
    /out of time/,
  );
  t.match(said(), /out of time/);
  const named = 'The poll was canceled: 1 of 1';
  t.match(
    said({ headline: named, text: `${named}\nThe poll ran out of time.` }),
    /out of time/,
    'so an option is named',
  );
});

t.test('an old result shows who led as points that nothing joins', async (t) => {
  const page = await openMade({ ...REVERSAL, isOld: true });
  t.equal(await page.locator('.odds-line').count(), 0);
  const leaders = await page
    .locator('.odds-dot')
    .evaluateAll((dots) => dots.map((dot) => dot.getAttribute('data-option')));
  t.same(leaders, ['0', '0', '0', '0', '1', '0'], 'no point where no option led');
});

t.test('one is counted as one, and a link that ends soon says at what time', async (t) => {
  const one = { choices: [0], unasked: 8 };
  t.match(pageOf(one), / 1 vote, 9 models on the panel\./);
  t.match(pageOf({ choices: [0], unasked: 0 }), / 1 vote, 1 model on the panel\./);
  t.match(pageOf(REVERSAL), / 9 votes, 9 models on the panel\./);
  const picture = pictureOf(madeUpResult(REVERSAL));
  t.match(cursorText(picture, oddsSeries(picture), 1), /^After 1 vote,/);
  t.match(cursorText(picture, oddsSeries(picture), 2), /^After 2 votes,/);
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  for (const [expiresAt, says] of [
    [inHours(1), /^\d+ \w+ \d{4}, \d\d:\d\d$/],
    [inHours(24 * 30), /^\d+ \w+ \d{4}$/],
  ] as const) {
    const page = await openMade({ ...REVERSAL, expiresAt });
    const end = page.locator(`.share-card time[datetime="${expiresAt}"]`);
    await eventually('it is local', async () => says.test((await end.textContent()) ?? ''));
    await page.context().close();
  }
});

t.test('what is too much is counted and said, not cut', async (t) => {
  const page = await site.open('/playground');
  const question = page.getByLabel('Question');
  await question.fill(`${'x'.repeat(1_003)}?`);
  await page.getByText('1,004 / 1,000').waitFor();
  t.equal((await question.inputValue()).length, 1_004);
  t.equal(await page.locator('.option-field:visible').count(), 2);
  await page.getByLabel('Option 1').fill('Same');
  await page.getByLabel('Option 2').fill('Same ');
  t.equal(await page.locator('.option-field:visible').count(), 3, 'and a field for one more');
  await page.getByRole('button', { name: 'Ask the models' }).click();
  await page.getByText('The question has 1,004 characters; 1,000 is the most.').waitFor();
  await question.fill('Which of these is the best one?');
  await page.getByRole('button', { name: 'Ask the models' }).click();
  await page.getByText('Options 1 and 2 are the same.').waitFor();
  t.notMatch(await page.locator('form').textContent(), /_/, 'no name of a field of the API');
});

t.test('a result leads on: the same fields, and the polls of one question on this device', async (t) => {
  const page = await site.open('/playground?question=Which+of+these+is+the+best+one%3F&option=Alpha&option=Beta');
  for (const votes of [
    [0, 0],
    [1, 1],
    [0, 0],
  ]) {
    await page.getByRole('button', { name: 'Ask the models' }).click();
    const poll = await newestPoll();
    await poll.open();
    for (const option of votes) await poll.vote(option);
    await poll.end();
    await page.getByRole('link', { name: 'View and share' }).click();
    await page.getByRole('link', { name: 'Edit and ask again' }).click();
    t.equal(await page.getByLabel('Question').inputValue(), 'Which of these is the best one?');
    t.same(
      [await page.getByLabel('Option 1').inputValue(), await page.getByLabel('Option 2').inputValue()],
      ['Alpha', 'Beta'],
    );
  }
  t.equal(await page.locator('#recent li').count(), 3);
  await page.locator('#recent a').first().click();
  await page.getByText('Same question, asked 3 times on this device: Alpha 2, Beta 1.').waitFor();
  await page.goto('/playground');
  await page.getByRole('button', { name: 'Forget them' }).click();
  await page.reload();
  t.notOk(await page.locator('#recent').isVisible());
});

t.test('a name beside the chart ends in an ellipsis that fits, however wide its letters are', (t) => {
  t.equal(cutToWidth('Postgres', 85), 'Postgres');
  t.equal(cutToWidth('Donaudampfschifffahrt', 85), 'Donaudamp…');
  t.equal(cutToWidth('WWWWWWWWWWWW', 85), 'WWWWWW…');
  t.equal(cutToWidth('illicit little list', 85), 'illicit little …');
  t.equal(cutToWidth('漢字漢字漢字漢字', 85), '漢字漢字漢字…');
  t.equal(cutToWidth('👩‍👩‍👧👩‍👩‍👧', 4), '…');
  t.end();
});
