import { eventually } from '@eloquentpoll/testkit/eventually';
import { sql } from 'kysely';
import t from 'tap';
import {
  acceptPoll,
  claimPoll,
  closeAccount,
  findPollByResult,
  findResult,
  findResultOfPoll,
  finishPoll,
  readFeedbackSummary,
  readHistory,
  readRecentResults,
  type Storage,
  storeFeedback,
} from '../src/index.ts';
import { pageOfHistory } from '../src/results.ts';
import { acceptance, finished, funded, open, spec, USD } from './fixtures.ts';
import { executedNodes, rowsRead } from './query-plan.ts';

async function ended(storage: Storage, accountId: string) {
  const request = acceptance(accountId);
  await acceptPoll(storage, request);
  await finishPoll(storage, finished((await claimPoll(storage, request.poll.id, 'worker'))!));
  return request.poll;
}

const { storage, query } = await open(t, { maxConnections: 10 });

t.test('history: own results, newest first, in pages', async (t) => {
  const [owner, other] = [await funded(storage, 99n * USD), await funded(storage, 99n * USD)];
  const polls = [];
  for (let index = 0; index < 12; index++) {
    polls.unshift((await ended(storage, owner)).resultId);
    if (index % 3 === 0) await ended(storage, other);
  }
  const ids = async (limit: number, offset: number) =>
    (await readHistory(storage, owner, limit, offset)).map(({ resultId }) => resultId);
  t.same(await ids(100, 0), polls);
  t.same([...(await ids(5, 0)), ...(await ids(5, 5)), ...(await ids(5, 10))], polls, 'pages neither skip nor repeat');
  t.same(await ids(5, 12), []);
  t.same(
    (await readRecentResults(storage, owner)).map(({ resultId }) => resultId),
    polls.slice(0, 5),
  );
  t.match((await readHistory(storage, owner, 1, 0))[0], {
    question: spec.question,
    status: 'success',
    pollType: 'fptp',
    winningOption: 'A',
    isTie: false,
    modelsRequested: 3,
    modelsSucceeded: 2,
    totalCostU: 801n,
    totalMs: 720,
    createdAt: Date,
  });
});

t.test('results whose time is over take no place of a page', async (t) => {
  const owner = await funded(storage, 99n * USD);
  const kept: string[] = [];
  for (let index = 0; index < 3; index++) kept.unshift((await ended(storage, owner)).resultId);
  for (let index = 0; index < 5; index++) {
    const { id } = await ended(storage, owner);
    await query('update results set expires_at = now() where poll_id = $1', [id]);
  }
  const ids = (lines: { resultId: string }[]) => lines.map(({ resultId }) => resultId);
  t.same(ids(await readHistory(storage, owner, 3, 0)), kept);
  t.same(ids(await readHistory(storage, owner, 2, 1)), kept.slice(1));
  t.same(ids(await readRecentResults(storage, owner)), kept);
});

t.test('a page of results is found in its index, past thousands that are deleted and not emptied yet', async (t) => {
  const [owner, other] = [await funded(storage, 0n), await funded(storage, 0n)];
  await query(
    `insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, is_tie, early_terminated,
                          models_requested, models_succeeded, models_failed, models_skipped, total_cost_u, gather_ms, total_ms,
                          detail, created_at, expires_at)
     select month_ids(now()) || lpad(i::text, 22, '0'), 'EP-' || i, case when i % 2 = 0 then $1 else $2 end::uuid, 'success', 'broad',
            'rest', true, true, false, 2, 2, 0, 0, 0, 1, 1, '{}', now() - i * interval '1 second', case when i < 5000 then now() end
       from generate_series(1, 10000) i`,
    [owner, other],
  );
  // A transaction that is open elsewhere in that moment keeps pages from being known as visible to all.
  await eventually('nearly all pages are visible to all', async () => {
    await query('vacuum analyze results');
    const [pages] = await query<{ hidden: boolean }>(
      `select sum(relallvisible) < .9 * sum(relpages) as hidden
         from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'results'::regclass`,
    );
    return pages!.hidden === false;
  });
  const terms = { accountId: owner, limit: 20, offset: 10 };
  t.equal((await readHistory(storage, owner, terms.limit, terms.offset))[0]?.resultId, 'EP-5020');
  // Of a month without rows it makes no difference.
  const scans = (await executedNodes(storage, sql`${pageOfHistory(storage, terms)}`)).filter(
    (node) => node['Relation Name']?.startsWith('results') && rowsRead(node) > 0,
  );
  t.same(new Set(scans.map((node) => node['Node Type'])), new Set(['Index Only Scan']));
  const read = scans.reduce((sum, node) => sum + rowsRead(node), 0);
  t.ok(read < 2_600, `${read}`);
});

t.test('a result is found by its id and by its poll, a running poll has none', async (t) => {
  const accountId = await funded(storage, 9n * USD);
  const poll = await ended(storage, accountId);
  const request = acceptance(accountId);
  await acceptPoll(storage, request);
  t.equal((await findResult(storage, poll.resultId))?.pollId, poll.id);
  t.equal((await findResultOfPoll(storage, poll.id))?.resultId, poll.resultId);
  t.equal((await findPollByResult(storage, poll.resultId))?.id, poll.id);
  t.equal(await findResult(storage, request.poll.resultId), null);
  t.equal(await findResult(storage, poll.id), null);
  t.equal(await findPollByResult(storage, 'EP-2026-01-01-unknown'), null);
});

t.test('feedback: one opinion per account and poll, the latest counts', async (t) => {
  const people = [await funded(storage, 9n * USD), await funded(storage, 0n), await funded(storage, 0n)];
  const [first, second, third] = people as [string, string, string];
  const { resultId } = await ended(storage, first);
  const say = (accountId: string, outcomeCorrect: boolean | null, confidence: number | null = null) =>
    storeFeedback(storage, { accountId, resultId, outcomeCorrect, confidence, notes: 'note' });

  t.same(await readFeedbackSummary(storage, resultId), { total: 0, correct: 0, incorrect: 0, entries: [] });
  const id = await say(first, true, 0.25);
  t.equal(await say(first, false, 0.5), id, 'the same row');
  await say(second, true);
  await say(third, null);
  const summary = await readFeedbackSummary(storage, resultId);
  t.match(summary, { total: 3, correct: 1, incorrect: 1 });
  t.equal(summary.entries.length, 3);
  t.match(
    summary.entries.find(({ feedbackId }) => feedbackId === id),
    { outcomeCorrect: false, confidence: 0.5 },
  );
  t.notMatch(JSON.stringify(summary), /note/, 'notes are not for the public');

  t.equal(await storeFeedback(storage, { ...blank, accountId: first, resultId: 'EP-unknown' }), null);
  t.match(await readFeedbackSummary(storage, 'EP-unknown'), { total: 0 });
  await t.rejects(say(first, true, 1.5), { name: 'StorageRefused' });
  t.ok(await closeAccount(storage, first));
  t.equal(await say(second, false), null, 'nor on polls of an account that was closed and is not emptied yet');
});

const blank = { outcomeCorrect: null, confidence: null, notes: null };
