import { randomBytes } from 'node:crypto';
import type { PollSpec } from '@eloquentpoll/contracts';
import t from 'tap';
import {
  acceptPoll,
  claimPoll,
  deletePoll,
  ensureAccountEndpoint,
  finishPoll,
  insertKey,
  spreadWebhookEvents,
  storeFeedback,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, spec, USD, unique } from './fixtures.ts';

// What is left of a deleted poll, column by column: ids, times and numbers.

const { storage, query } = await open(t);

const WHOLE: PollSpec = {
  ...spec,
  reasons: true,
  saved_panel: 'my panel',
  caller: 'pseudonym',
  seed: 'with it, a guessed question could be checked against the published hash of the receipt',
};

async function endedPoll(accountId: string, webhookUrl?: string): Promise<{ id: string; resultId: string }> {
  const { id: keyId } = await insertKey(storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_' });
  const poll = newPoll(accountId, {
    spec: WHOLE,
    keyId,
    tenant: accountId,
    requestId: 'req_of_the_caller',
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    contextId: 'context of the caller',
    metadata: { customer: 'acme' },
    webhookUrl,
  });
  const idempotency = { principal: accountId, entryPoint: 'rest', key: unique(), fingerprint: 'f' };
  t.equal((await acceptPoll(storage, acceptance(accountId, { poll, idempotency }))).kind, 'accepted');
  await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'w'))!));
  const opinion = { outcomeCorrect: true, confidence: 0.5, notes: 'note' };
  for (const by of [accountId, await funded(storage, 0n)])
    t.ok(await storeFeedback(storage, { accountId: by, resultId: poll.resultId, ...opinion }));
  return poll;
}

t.test('of a deleted poll no text is left, and not whose it was', async (t) => {
  const accountId = await funded(storage, 10n * USD);
  await ensureAccountEndpoint(storage, accountId, { id: `we_${'b'.repeat(32)}`, secret: 'sealed' });
  const poll = await endedPoll(accountId, 'https://one.example.com/');
  const rowsOf = async () => {
    const [row] = await query('select * from polls where id = $1', [poll.id]);
    const [result] = await query('select * from results where poll_id = $1', [poll.id]);
    return { row: row!, result: result!, votes: await query('select * from votes where poll_id = $1', [poll.id]) };
  };
  const before = await rowsOf();
  t.same(await deletePoll(storage, accountId, poll.id), { outcome: 'deleted', pollId: poll.id });
  const after = await rowsOf();

  const { spec: left, ...row } = after.row;
  const { spec: whole, ...was } = before.row;
  const gone = ['account_id', 'tenant', 'key_id', 'request_id', 'traceparent', 'context_id', 'metadata', 'webhook_url'];
  for (const name of gone) {
    t.not(was[name], null, `${name} was there`);
    t.equal(row[name], null, name);
  }
  // Only these and the expiry have changed: a new column says here whether it is a text of the caller's.
  t.same({ ...row, ...pick(was, [...gone, 'expires_at']) }, was);
  const { question, options, saved_panel, caller, seed, ...numbers } = whole as PollSpec;
  t.ok(question && options && saved_panel && caller && seed, 'all of them were there');
  t.same(left, numbers);

  t.match(after.result, { account_id: null, winning_option: null, detail: {}, expires_at: null });
  t.same(after.result.detail, {});
  t.ok(after.result.emptied_at instanceof Date);
  t.equal(after.votes.length, 3);
  for (const vote of before.votes) t.not((vote.labels as string[]).length, 0);
  for (const vote of after.votes) t.same(vote.labels, [], 'the labels stood for options in their order');

  for (const table of ['feedback', 'idempotency', 'poll_labels'])
    t.same(await query(`select poll_id from ${table} where poll_id = $1`, [poll.id]), [], table);
  t.same(await query('select poll_id from deleted_runs'), [{ poll_id: poll.id }], 'Redis forgets it again');
});

const pick = (row: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, row[name]]));

t.test('of the events of a deleted poll none is sent any more, and those of others are', async (t) => {
  const accountId = await funded(storage, 10n * USD);
  await ensureAccountEndpoint(storage, accountId, { id: `we_${'a'.repeat(32)}`, secret: 'sealed' });
  const [deleted, other] = [
    await endedPoll(accountId, 'https://one.example.com/'),
    await endedPoll(accountId, 'https://one.example.com/'),
  ];
  t.equal(await spreadWebhookEvents(storage, 100), 2);
  const waiting = await endedPoll(accountId, 'https://one.example.com/');
  for (const { id } of [deleted, waiting]) t.match(await deletePoll(storage, accountId, id), { outcome: 'deleted' });
  t.same(await query("select data ->> 'session_id' as id from webhook_events"), [{ id: other.id }]);
  t.same(
    await query(
      `select e.data ->> 'session_id' as id from webhook_deliveries d left join webhook_events e on e.id = d.event_id`,
    ),
    [{ id: other.id }],
  );
});
