import type { TerminationReason } from '@eloquentpoll/contracts';
import { pollIdsOfMonth } from '@eloquentpoll/polls';
import { savePanel } from '@eloquentpoll/storage';
import t from 'tap';
import { freePollLink } from '../../src/pages/ask-again.ts';
import { readPollsFilter } from '../../src/pages/dashboard/polls-filter.ts';
import { readForExport } from '../../src/pages/dashboard/read-polls.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { openSite } from '../fixtures/open-site.ts';
import { logIn, openDashboard } from '../fixtures/signed-in.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 5 s

// The history on the dashboard: filters and pages in the address, export, cancel, and running polls that are followed.

const site = await openSite(t);
const { app, context } = site;
const { accountId, bearer } = await site.keyWith(20);
const session = await site.sessionFor(accountId);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const POLL = { question: 'Which <i>of</i> the two is better?', options: ['This <one>', 'That & more'] };
const post = (payload: object, headers: object = bearer) =>
  app.inject({ method: 'POST', url: '/api/poll', headers: { ...headers }, payload: { ...POLL, ...payload } });
const resultOf = async (payload: object, headers?: object): Promise<string> =>
  (await post(payload, headers)).json().poll_id;

const page = async (path: string) => (await app.inject({ url: path, headers: session })).body;
const idsOn = (body: string): string[] =>
  [...body.slice(body.indexOf('id="history"')).matchAll(/<a href="\/result\/(EP-[\w-]+)">/g)].map(([, id]) => id!);
const linkOn = (body: string, rel: string): string =>
  new RegExp(`rel="${rel}" href="([^"]+)"`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';

// Before there is a worker.
const [stopped, stoppedExport] = await stoppedPolls();
const [shownRunning, followed] = await runningPolls();

await standInWorker(t, context, {
  opinion: (seat, { question }) => {
    if (question.includes('silent')) return null;
    if (question.includes('second')) return seat < 2 ? 0 : 1;
    if (question.includes('tied')) return seat < 8 ? seat % 2 : null;
    return 0;
  },
});
await savePanel(context.storage, accountId, {
  name: 'night-checks',
  models: context.panels
    .models()
    .slice(0, 3)
    .map(({ id }) => id),
});
const plain: string[] = [];
for (let i = 0; i < 28; i++) plain.unshift(await resultOf({}));
const needle = await resultOf({ question: 'Where is THE Needle, do you think?', metadata: { customer: '<42>' } });
const tied = await resultOf({ question: 'On what is the panel tied?' }, session);
const silent = await resultOf({ question: 'What is left silent here?', preset: 'fast' });
const saved = await resultOf({ question: 'What does the panel by night say?', panel: 'night-checks' });
const newest = [saved, silent, tied, needle, ...plain];
const stranger = await site.keyWith(5);
const foreign = await resultOf({ question: 'Where is the needle of others?' }, stranger.bearer);

t.test(
  '[§4.2-history-own, §4.2-history-limit] filters in the address find what they name, and pages keep them',
  async (t) => {
    const [key] = (await app.inject({ url: '/api/keys', headers: session })).json();
    const today = needle.slice('EP-'.length, 'EP-2026-11-23'.length);
    const found: [query: string, ids: string[]][] = [
      ['', newest.slice(0, 25)],
      ['?q=the+needle', [needle]],
      ['?show=close', [tied]],
      ['?show=ties', [tied]],
      ['?show=failed', [silent]],
      ['?preset=custom', [saved]],
      [`?label=${encodeURIComponent('customer = <42>')}`, [needle]],
      [`?key=${key.id}&q=panel`, [saved]],
      [`?from=${today}&to=${today}&q=needle`, [needle]],
      ['?to=2020-01-01', []],
      ['?sort=oldest', newest.toReversed().slice(0, 25)],
      ['?show=nonsense&preset=__proto__&key=x&from=2020-99-99&label=x&sort=up&after=ps_1', newest.slice(0, 25)],
    ];
    for (const [query, ids] of found) t.same(idsOn(await page(`/dashboard/polls${query}`)), ids, query);

    for (const sort of ['', '&sort=oldest']) {
      const first = await page(`/dashboard/polls?preset=broad${sort}`);
      const second = await page(linkOn(first, 'next'));
      t.equal(linkOn(second, 'next'), '');
      const both = [...idsOn(first), ...idsOn(second)];
      const broad = [tied, needle, ...plain];
      t.same(both, sort ? broad.toReversed() : broad);
      t.same(idsOn(await page(linkOn(second, 'prev'))), idsOn(first));
    }
    t.match(await page('/dashboard/polls?q=nowhere+to+be+found'), /Looked through 32 polls, back to <time/);
    t.notOk((await page('/dashboard/polls?q=needle')).includes(foreign));
    t.match(
      await page('/dashboard/polls?q=%22%3E%3Cscript%3E'),
      /value="&quot;&gt;&lt;script&gt;"/,
      'what was searched for is shown as text',
    );
  },
);

t.test('a row says how close it was, marks only exceptions, and asks again with its own panel', async (t) => {
  const body = await page('/dashboard/polls');
  t.match(body, 'Which &lt;i&gt;of&lt;/i&gt; the two is better?');
  t.match(body, '<bdi>customer=&lt;42&gt;</bdi>');
  t.match(body, /4:4 tied <span class="badge" data-tone="warn">1 failed</);
  t.match(body, /data-tone="bad">No answer</);
  t.notMatch(body, /data-tone="good"/);
  const again = await sessionIdOf(saved, bearer);
  t.match(body, `/dashboard?again=${again}#run`);
  const chosen = /<option value="panel:night-checks" selected>/;
  for (const id of [again, saved]) t.match(await page(`/dashboard?again=${id}`), chosen);
  const others = await site.sessionFor(stranger.accountId);
  const theirs = async (url: string) => (await app.inject({ url, headers: others })).body;
  for (const url of [`/result/${saved}`, `/dashboard?again=${saved}`])
    t.notMatch(await theirs(url), 'night-checks', 'where others do not learn its name');
  t.match(await theirs(`/dashboard?again=${saved}`), 'What does the panel by night say?', 'but what is public');
  t.notMatch(await theirs(`/dashboard?again=${again}`), 'What does the panel', 'a session is its owner’s');
});

t.test('the export has the checked polls, or all that match', async (t) => {
  const get = (query: string, headers: Record<string, string> = session) =>
    app.inject({ url: `/dashboard/polls/export?${query}`, headers });
  const all = await get('format=jsonl&q=panel');
  t.match(all.headers, {
    'content-type': /^application\/jsonl/,
    'content-disposition': 'attachment; filename="polls.jsonl"',
    'cache-control': 'no-store',
  });
  const lines = all.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(lines, [
    { result_id: saved, preset: 'custom', options: POLL.options, votes: [3, 0] },
    { result_id: tied, is_tie: true, votes: [4, 4], winning_option: null, key_id: null },
  ]);
  const two = await get(`format=csv&id=${lines[0].session_id}&id=${lines[1].session_id}&id=ps_x`);
  const [head, ...rows] = two.body.trimEnd().split('\r\n');
  t.match(head, /^session_id,status,result_id,question,/);
  t.equal(rows.length, 2);
  t.match(
    rows[0],
    `,completed,${saved},What does the panel by night say?,This <one> | That & more,custom,This <one>,3:0,`,
  );
  t.equal((await get('format=csv')).body.trimEnd().split('\r\n').length, 33, 'all of them');
  const theirs = await get(`format=csv&id=${lines[0].session_id}`, await site.sessionFor(stranger.accountId));
  t.equal(theirs.body.trimEnd(), head, 'a poll of another account is none');
  t.equal((await get('format=csv', {})).statusCode, 401);
  t.equal((await get('format=xls')).statusCode, 400);
});

t.test('the export goes on to the end of the list, or says in its name that it does not', async (t) => {
  const owner = await site.keyWith(20);
  const theirs = await site.sessionFor(owner.accountId);
  const won = { question: 'Is the second one right?', confidence_threshold: 1 };
  const { poll_id } = (await post(won, owner.bearer)).json();
  const plant = (first: number, last: number) =>
    site.asOwner(`
      insert into polls (id, result_id, account_id, status, spec, entry_point, lease_until, created_at, deadline_at, finished_at)
      select '${pollIdsOfMonth(new Date())}' || lpad(n::text, 22, '0'), 'EP-2026-01-01-' || n, account_id, 'failed', spec, 'polls', now(),
             created_at - n * interval '1 us', now(), now()
        from polls, generate_series(${first}, ${last}) n where result_id = '${poll_id}'`);
  const exported = async (query: string) => {
    const answer = await app.inject({ url: `/dashboard/polls/export?format=jsonl&${query}`, headers: theirs });
    const lines = answer.body.split('\n').slice(0, -1);
    return { lines: lines.map((line) => JSON.parse(line)), name: answer.headers['content-disposition'] };
  };
  await plant(1, 799);
  for (const query of ['', 'sort=oldest', 'q=the+second']) {
    const { lines, name } = await exported(query);
    t.equal(lines.length, 800, `${query}: all of them`);
    t.equal(new Set(lines.map(({ session_id }) => session_id)).size, 800, 'and each once');
    t.match(name, '"polls.jsonl"');
    const newest = lines.at(query === 'sort=oldest' ? -1 : 0);
    t.match(newest, { result_id: poll_id, winning_option: 'That & more', votes: [2, 7] }, 'votes stand as options do');
  }
  const few = { pollIds: [], limit: 1_000, maxLooked: 700, gone: new AbortController().signal };
  const { rows, isCut } = await readForExport(context, owner.accountId, readPollsFilter({}), few);
  t.same([rows.length, isCut], [700, true], 'it stops where it has looked through enough');
  const left = { pollIds: [], limit: 1_000, maxLooked: 70_000, gone: AbortSignal.abort() };
  const unread = await readForExport(context, owner.accountId, readPollsFilter({}), left);
  t.same([unread.rows.length, unread.isCut], [700, true], 'or its caller has left');

  await plant(800, 1_050);
  const cut = await exported('');
  t.equal(cut.lines.length, 1_000);
  t.match(cut.name, '"polls-incomplete.jsonl"');
});

t.test('a poll whose question is longer than an address is asked again from its page and the history', async (t) => {
  const owner = await site.keyWith(20);
  const question = `Which is it? ${'長'.repeat(4_000)}`;
  const { poll_id } = (await post({ question, metadata: { secret: 'of-the-owner' } }, owner.bearer)).json();
  for (const path of ['/dashboard/polls', `/result/${poll_id}`]) {
    const own = await openDashboard(site, owner.accountId, {}, path);
    await own
      .getByRole('link', { name: path.startsWith('/result') ? 'Edit and ask again' : /^Ask again/ })
      .first()
      .click();
    await own.getByText('Expected', { exact: true }).waitFor();
    t.equal(await own.getByLabel('Question').inputValue(), question, path);
    t.equal(await own.getByLabel('Options, one per line').inputValue(), POLL.options.join('\n'));
    await own.context().close();
  }
  const other = await site.open(`/result/${poll_id}`);
  await other.getByRole('link', { name: 'Another wording' }).click();
  await other.getByRole('heading', { name: 'Sign in' }).first().waitFor();
  await logIn(site, stranger.accountId, other);
  await other.goto('/dashboard');
  await other.getByLabel('Options, one per line').and(other.getByText('This <one>')).waitFor();
  t.equal(await other.getByLabel('Question').inputValue(), '', 'a login in between keeps the way');
  t.notMatch(await other.content(), 'of-the-owner');

  const free = await app.inject({ method: 'POST', url: '/api/quick-poll', payload: POLL });
  const { poll_id: freeId } = free.json();
  t.match((await app.inject({ url: `/result/${freeId}` })).body, `href="/playground?again=${freeId}"`);
  const filled = (await app.inject({ url: `/playground?again=${freeId}` })).body;
  t.match(filled, 'Which &lt;i&gt;of&lt;/i&gt; the two is better?</textarea>');
  t.match(filled, 'value="That &amp; more"');
  t.notMatch((await app.inject({ url: `/playground?again=${freeId}&wording=new` })).body, 'the two is better');
});

t.test('polls are deleted from their page or the history without scripts, after a question', async (t) => {
  const [mine, theirs] = [await sessionIdOf(needle, bearer), await sessionIdOf(foreign, stranger.bearer)];
  const statusOf = async (resultId: string) => (await app.inject({ url: `/api/results/${resultId}` })).statusCode;
  const send = async (ids: readonly string[], headers: Record<string, string>) => {
    const payload = String(new URLSearchParams(ids.map((id): [string, string] => ['id', id])));
    const url = '/dashboard/polls/delete';
    return (await app.inject({ method: 'POST', url, headers: { ...headers, ...FORM }, payload })).statusCode;
  };
  t.equal(await send([mine], {}), 401);
  t.equal(await send([mine], { cookie: session.cookie, origin: 'https://evil.example' }), 403);
  t.equal(await send([mine], await site.sessionFor(stranger.accountId)), 303);
  t.equal(await send([theirs, 'ps_x', "ps_'"], session), 303);
  t.equal(await send([], session), 303);
  t.same([await statusOf(needle), await statusOf(foreign)], [200, 200]);
  t.notMatch(await page(`/dashboard/polls/delete?id=${theirs}`), 'needle of others');
  t.equal((await app.inject({ url: `/dashboard/polls/delete?id=${mine}` })).statusCode, 401);
  const isLinked = async (headers?: Record<string, string>) =>
    (await app.inject({ url: `/result/${needle}`, ...(headers && { headers }) })).body.includes(
      '/dashboard/polls/delete',
    );
  t.same(
    [await isLinked(), await isLinked(await site.sessionFor(stranger.accountId)), await isLinked(session)],
    [false, false, true],
  );

  const still = await openDashboard(site, accountId, { javaScriptEnabled: false }, `/result/${needle}`);
  await still.getByRole('link', { name: 'Delete', exact: true }).click();
  await still.getByRole('heading', { name: 'Delete this poll?' }).waitFor();
  await still.getByText('Where is THE Needle').waitFor();
  t.equal(await statusOf(needle), 200, 'asking is not deleting');
  await still.getByRole('button', { name: 'Delete', exact: true }).click();
  await still.getByRole('heading', { name: 'Polls', exact: true }).waitFor();
  t.equal(await statusOf(needle), 404);
  t.equal((await app.inject({ url: `/result/${needle}`, headers: session })).statusCode, 404);

  await still.getByRole('button', { name: 'Delete the checked' }).click();
  await still.getByText('Check the polls to delete in the history first.').waitFor();
  await still.goBack();
  for (const question of ['On what is the panel tied?', 'What is left silent here?'])
    await still.getByLabel(`Check: ${question}`).check();
  await still.getByRole('button', { name: 'Delete the checked' }).click();
  await still.getByRole('button', { name: 'Delete 2 polls' }).click();
  await still.getByRole('heading', { name: 'Polls', exact: true }).waitFor();
  t.same([await statusOf(tied), await statusOf(silent), await statusOf(saved)], [404, 404, 200]);
});

t.test('a poll of models that were named one by one is asked again of the same', async (t) => {
  const named = context.panels
    .models()
    .slice(3, 7)
    .map(({ id }) => id);
  const chosen = await resultOf({ question: 'What do models say that were named?', models: named });
  for (const path of ['/dashboard/polls', `/result/${chosen}`]) {
    const still = await openDashboard(site, accountId, {}, path);
    await still
      .getByRole('link', { name: path.startsWith('/result') ? 'Edit and ask again' : /^Ask again.*named\?$/ })
      .first()
      .click();
    await still.getByText(/about \d of 4/).waitFor();
    const choice = await still.getByLabel('Panel', { exact: true }).inputValue();
    t.same(choice.slice('models:'.length).split(',').toSorted(), named.toSorted(), path);
    if (path.startsWith('/result')) {
      await still.getByRole('button', { name: 'Run poll' }).click();
      await still.getByRole('link', { name: 'View and share' }).waitFor();
    }
    await still.context().close();
  }
  const { polls } = (await app.inject({ url: '/api/polls?limit=1', headers: bearer })).json();
  t.match(polls, [{ preset: 'custom', question: 'What do models say that were named?' }]);
});

t.test('a poll that searched the web, and asked for reasons, is asked again with both', async (t) => {
  const question = 'What does the web say about the two?';
  const specs = async () => {
    const polls = context.storage.db.selectFrom('polls').select('spec').orderBy('created_at', 'desc');
    const found = (await polls.limit(60).execute()).map(({ spec }) => spec);
    return found
      .filter((spec) => spec.question === question)
      .map(({ panel_name, search, reasons = false }) => [panel_name, search, reasons]);
  };
  const boxes = ['The models search the web', 'Each model gives its reason'];
  const paid = await resultOf({ question, theme: 'search', preset: 'fast', reasons: true });
  for (const [path, asks] of [
    [`/result/${paid}`, true],
    ['/dashboard/polls', false],
  ] as const) {
    const page = await openDashboard(site, accountId, {}, path);
    const link = page.getByRole('link', { name: asks ? 'Edit and ask again' : /^Ask again.*about the two/ });
    await link.first().click();
    await page.getByText('Expected', { exact: true }).waitFor();
    for (const box of boxes) t.ok(await page.getByLabel(box).isChecked(), box);
    if (asks) {
      await page.getByRole('button', { name: 'Run poll' }).click();
      await page.getByRole('link', { name: 'View and share' }).waitFor();
    }
    await page.context().close();
  }
  t.same(await specs(), [
    ['fast', true, true],
    ['fast', true, true],
  ]);
  const others = await site.sessionFor(stranger.accountId);
  t.match((await app.inject({ url: `/dashboard?again=${paid}`, headers: others })).body, boxes[0]!);
  t.notMatch(await page(`/dashboard?again=${plain[0]}`), boxes[0]!);

  const ask = async (payload: object) => (await app.inject({ method: 'POST', url: '/api/quick-poll', payload })).json();
  const free = await ask({ ...POLL, question, theme: 'free_search' });
  const asker = await site.open(`/result/${free.poll_id}`);
  await asker.getByRole('link', { name: 'Edit and ask again' }).click();
  // Until its script has loaded, the form would be sent without it.
  await asker.waitForURL(/\/playground\?again=/, { waitUntil: 'load' });
  t.ok(await asker.getByLabel(boxes[0]!).isChecked());
  t.equal(await asker.getByLabel(boxes[1]!).count(), 0, 'what it did not have is not offered');
  await asker.getByRole('button', { name: 'Ask the models' }).click();
  await asker.getByRole('link', { name: 'View and share' }).waitFor();
  const withoutScripts = await site.open(`/playground?again=${free.poll_id}`, { javaScriptEnabled: false });
  await withoutScripts.getByRole('button', { name: 'Ask the models' }).click();
  await withoutScripts.getByRole('heading', { name: 'Every vote' }).waitFor();
  await withoutScripts.goto(`/playground?again=${free.poll_id}`);
  await withoutScripts.getByLabel(boxes[0]!).uncheck();
  await withoutScripts.getByRole('button', { name: 'Ask the models' }).click();
  await withoutScripts.getByRole('heading', { name: 'Every vote' }).waitFor();
  t.same((await specs()).slice(0, 4), [
    ['free', false, false],
    ['free_search', true, false],
    ['free_search', true, false],
    ['free_search', true, false],
  ]);
  t.match(freePollLink({ ...POLL, search: true }), '&search=true');
  t.match((await app.inject({ url: freePollLink({ ...POLL, search: true }) })).body, boxes[0]!);
});

t.test('running polls stand on top with their votes, and one is canceled by its form without scripts', async (t) => {
  for (const text of [
    'Which poll waits for a worker?',
    'waiting',
    'Which poll has 2 votes?',
    '2 of 9',
    'No poll has ended',
  ])
    t.match(shownRunning, text);
  t.same(followed, {
    canceled: 'failed',
    statuses: [303, 401, 403],
    running: 0,
    kept: { focus: 1, left: 40 },
    focused: 'q',
    checked: 2,
  });
});

t.test('models that were not asked are not said to have failed, and the export has how many were asked', async (t) => {
  t.match(stopped, />1:1 tied <span class="badge" data-tone="warn">7 not asked</);
  t.match(stopped, />2:1 split <span class="badge" data-tone="warn">1 failed</);
  t.notMatch(stopped, /[2-9] failed</);
  t.same(stoppedExport, {
    'Which has a low limit?': 2,
    'Which is clear early?': 4,
    'Which has a faulty model?': 4,
    'Which is given up?': null,
  });
});

async function sessionIdOf(resultId: string, headers: Record<string, string>): Promise<string> {
  const { polls } = (await app.inject({ url: '/api/polls', headers })).json();
  return polls.find((poll: { result_id: string }) => poll.result_id === resultId).session_id;
}

/** One that waits and is canceled; another that is followed to its end, in a browser. */
async function runningPolls(): Promise<[string, object]> {
  const other = await site.keyWith(5);
  const begin = async (question: string): Promise<string> => {
    const payload = { ...POLL, question };
    return (await app.inject({ method: 'POST', url: '/api/polls', headers: other.bearer, payload })).json().session_id;
  };
  const waiting = await begin('Which poll waits for a worker?');
  const worker = await takePoll(context, await begin('Which poll has 2 votes?'));
  await worker.open();
  await worker.vote();
  await worker.vote();
  const still = await openDashboard(site, other.accountId, { javaScriptEnabled: false }, '/dashboard/polls');
  const shown = (await still.locator('main').textContent()) ?? '';
  await still.getByRole('button', { name: /^Cancel.*waits/ }).click();
  await still.getByText('No poll has ended yet.').waitFor({ state: 'detached' });
  const status = await app.inject({ url: `/api/polls/${waiting}/status`, headers: other.bearer });

  // Neither another account nor another site cancels it.
  const cancel = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: `/dashboard/polls/${worker.claim.id}/cancel`, headers: { ...headers, ...FORM } });
  const { cookie } = await site.sessionFor(other.accountId);
  const answers = [await cancel(session), await cancel({}), await cancel({ cookie, origin: 'https://evil.example' })];

  const live = await openDashboard(site, other.accountId, {}, '/dashboard/polls');
  await live.getByText('2 of 9').waitFor();
  await live.evaluate(`document.styleSheets[0].insertRule('#running table { min-width: 300vw }')`);
  const keep = live.getByRole('button', { name: /^Cancel.*2 votes/ });
  await keep.focus();
  await live.locator('#running .scroll').evaluate((region) => region.scrollTo({ left: 40 }));
  for (const received of ['3 of 9', '4 of 9']) {
    await worker.vote();
    await live.getByText(received).waitFor();
  }
  const kept = {
    focus: await live.locator('button:focus', { hasText: '2 votes' }).count(),
    left: await live.locator('#running .scroll').evaluate(({ scrollLeft }) => scrollLeft),
  };
  for (let i = 0; i < 5; i++) await worker.vote();
  await worker.end();
  await live.getByRole('cell', { name: '9:0 unanimous' }).waitFor();
  await live.locator('body').press('/');
  const focused = await live.locator(':focus').getAttribute('name');
  const box = live.getByLabel('Check all');
  await box.check();
  const checked = await live.locator('#history [name="id"]:checked').count();
  return [
    shown,
    {
      canceled: status.json().status,
      statuses: answers.map(({ statusCode }) => statusCode),
      running: await live.locator('#running tr').count(),
      kept,
      focused,
      checked,
    },
  ];
}

/** Polls that end with models left. Resolves to their history, and to what its export says of them. */
async function stoppedPolls(): Promise<[string, object]> {
  const other = await site.keyWith(5);
  const headers = await site.sessionFor(other.accountId);
  const begin = async (question: string) => {
    const payload = { ...POLL, question };
    const begun = await app.inject({ method: 'POST', url: '/api/polls', headers: other.bearer, payload });
    return takePoll(context, begun.json().session_id);
  };
  const ends: [question: string, votes: (number | null)[], reason: TerminationReason][] = [
    ['Which has a low limit?', [0, 1], 'budget'],
    ['Which is clear early?', [0, 0, 0, 0], 'confidence'],
    ['Which has a faulty model?', [0, 1, 0, null], 'budget'],
  ];
  for (const [question, votes, reason] of ends) {
    const worker = await begin(question);
    for (const option of votes) await worker.vote(option);
    await worker.end({ reason });
  }
  await (await begin('Which is given up?')).bury();
  const read = async (path: string) => (await app.inject({ url: `/dashboard/polls${path}`, headers })).body;
  const lines = (await read('/export?format=jsonl')).trimEnd().split('\n');
  const asked = lines.map((line) => JSON.parse(line)).map(({ question, models_asked }) => [question, models_asked]);
  return [await read(''), Object.fromEntries(asked)];
}
