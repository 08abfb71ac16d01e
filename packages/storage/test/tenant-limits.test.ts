import { randomUUID } from 'node:crypto';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { type Acceptance, acceptPoll, balanceOf } from '../src/index.ts';
import { acceptance, funded, newPoll, open, together, USD, unique } from './fixtures.ts';

const keyOf = (principal: string) => ({ principal, key: unique('key-'), fingerprint: 'body' });

t.test(
  'of 60 polls of one tenant at once with a limit of 20, exactly 20 run; when one ends there is place for one',
  async (t) => {
    const { storage, query } = await open(t, { maxConnections: 20 });
    const accountId = await funded(storage, 1_000n * USD);
    const other = await funded(storage, 1_000n * USD);
    const ask = (owner: string) =>
      acceptPoll(storage, acceptance(owner, { poll: newPoll(owner, { tenant: owner }), limits: { running: 20 } }));
    const answers = await together(60, 60, () => ask(accountId));
    t.equal(answers.filter(({ kind }) => kind === 'too_many').length, 40);
    const ranks = answers.flatMap((answer) => (answer.kind === 'accepted' ? [answer.rank] : []));
    t.same(
      ranks.toSorted((a, b) => a - b),
      [...Array(20).keys()],
      'each knows how many were before it',
    );
    t.match(await ask(other), { kind: 'accepted', rank: 0 }, 'a neighbour');
    t.match(await balanceOf(storage, accountId), { heldU: 20n * USD }, 'what was refused holds nothing');
    await query(
      "update polls set status = 'completed', finished_at = now() where id = (select id from polls where tenant = $1 limit 1)",
      [accountId],
    );
    t.match(await ask(accountId), { kind: 'accepted', rank: 19 });
    t.match(await ask(accountId), { kind: 'too_many', running: 20 });
  },
);

t.test(
  'flex polls use up nothing of what an account may have of standard ones, and have a limit of their own',
  async (t) => {
    const { storage } = await open(t);
    const accountId = await funded(storage, 99n * USD);
    const ask = (tier: 'standard' | 'flex', running: number) => {
      const poll = newPoll(accountId, { tenant: accountId });
      const spec = { ...poll.spec, ...(tier === 'flex' && { service_tier: tier }) };
      return acceptPoll(storage, acceptance(accountId, { poll: { ...poll, spec }, limits: { running } }));
    };
    for (let rank = 0; rank < 4; rank++) t.match(await ask('flex', 4), { kind: 'accepted', rank });
    t.match(await ask('flex', 4), { kind: 'too_many', running: 4 });
    t.match(await ask('standard', 2), { kind: 'accepted', rank: 0 });
    t.match(await ask('standard', 2), { kind: 'accepted', rank: 1 });
    t.match(await ask('standard', 2), { kind: 'too_many', running: 2 });
  },
);

t.test('running polls are counted up to what may run, also where that was more before', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const ask = (running: number) =>
    acceptPoll(
      storage,
      acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId }), limits: { running } }),
    );
  for (let n = 0; n < 4; n++) t.match(await ask(4), { kind: 'accepted' });
  t.match(await ask(2), { kind: 'too_many', running: 2 });
});

t.test('a poll over the limit leaves its idempotency key free', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const idempotency = keyOf(accountId);
  const ask = (running: number) =>
    acceptPoll(
      storage,
      acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId }), idempotency, limits: { running } }),
    );
  const first = newPoll(accountId, { tenant: accountId });
  await acceptPoll(storage, acceptance(accountId, { poll: first, limits: { running: 1 } }));
  t.match(await ask(1), { kind: 'too_many' });
  t.match(await ask(2), { kind: 'accepted' }, 'the same request, later');
  t.match(await ask(1), { kind: 'joined' }, 'a repeated request joins, whatever runs');
});

t.test('one poll sent 8 times at once, as the last that its tenant may have: it is accepted each time', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 10 });
  for (const withKey of [false, true]) {
    const accountId = await funded(storage, 9n * USD);
    const poll = newPoll(accountId, { tenant: accountId });
    const request = acceptance(accountId, {
      poll,
      limits: { running: 1 },
      ...(withKey && { idempotency: keyOf(accountId) }),
    });
    const locked = 'pg_advisory_lock(hashtextextended($1, 0))';
    await query(`select ${locked}`, [accountId]);
    const answers = Array.from({ length: 8 }, () => acceptPoll(storage, request));
    await eventually('all have looked for the poll, and wait', async () => {
      const [row] = await query<{ n: number }>(
        "select count(*)::integer as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return row!.n === 8;
    });
    await query(`select ${locked.replace('lock', 'unlock')}`, [accountId]);
    for (const answer of await Promise.all(answers)) t.match(answer, { kind: 'accepted', pollId: poll.id });
    t.match(await balanceOf(storage, accountId), { heldU: USD }, 'held once');
  }
});

t.test('8 requests with one key at once, as the last poll that the tenant may have: all get that poll', async (t) => {
  const { storage } = await open(t, { maxConnections: 10 });
  const accountId = await funded(storage, 9n * USD);
  const idempotency = keyOf(accountId);
  const answers = await together(8, 8, () => {
    const poll = newPoll(accountId, { tenant: accountId });
    return acceptPoll(storage, acceptance(accountId, { poll, idempotency, limits: { running: 1 } }));
  });
  t.same(answers.map(({ kind }) => kind).toSorted(), ['accepted', ...Array<string>(7).fill('joined')]);
  t.equal(new Set(answers.map((answer) => 'pollId' in answer && answer.pollId)).size, 1);
});

t.test('a key with as many running polls as it may is refused; another key of its account is not', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const ask = (keyId: string | undefined) =>
    acceptPoll(
      storage,
      acceptance(accountId, {
        poll: newPoll(accountId, { tenant: accountId, keyId }),
        limits: { running: 5, runningOfKey: 2 },
      }),
    );
  const [one, other] = [randomUUID(), randomUUID()];
  for (let i = 0; i < 2; i++) t.match(await ask(one), { kind: 'accepted' });
  t.match(await ask(one), { kind: 'too_many_of_key', running: 2 });
  for (let i = 0; i < 2; i++) t.match(await ask(other), { kind: 'accepted' });
  t.match(await ask(undefined), { kind: 'accepted' }, 'a login has no key');
  t.match(await ask(undefined), { kind: 'too_many', running: 5 });
  t.match(await balanceOf(storage, accountId), { heldU: 5n * USD });
});

t.test('a poll behind more waiting ones of its tenant than can start in time leaves nothing behind', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const idempotency = keyOf(accountId);
  const ask = (waiting: number, more: Partial<Acceptance> = {}) =>
    acceptPoll(
      storage,
      acceptance(accountId, {
        poll: newPoll(accountId, { tenant: accountId }),
        limits: { running: 9, waiting },
        ...more,
      }),
    );
  t.match(await ask(0), { kind: 'accepted', rank: 0 });
  t.same(await ask(0, { idempotency }), { kind: 'too_late', waiting: 1 });
  t.match(await balanceOf(storage, accountId), { heldU: USD });
  t.match(await ask(1, { idempotency }), { kind: 'accepted', rank: 1 }, 'the same request, later');
  await query("update polls set lease_owner = 'w_1', lease_epoch = 1 where tenant = $1", [accountId]);
  t.match(await ask(0), { kind: 'accepted', rank: 0 }, 'what a worker has does not wait');
  t.match(await ask(-1), { kind: 'too_late' });
  t.match(await ask(-1, { idempotency }), { kind: 'joined' });
});

t.test(
  'polls that a clock a day ahead made are counted, on every day and in every time zone of a session',
  async (t) => {
    const { query } = await open(t);
    for (const name of ['accept_poll', 'accept_polls']) {
      const [source] = await query<{ text: string }>('select prosrc as text from pg_proc where proname = $1', [name]);
      const bound = /v_next_id[^;]*?:= (.*);/.exec(source!.text)![1]!;
      for (const zone of ['UTC', 'America/New_York', 'Pacific/Kiritimati']) {
        await query(`set timezone = '${zone}'`);
        const missed = await query(
          `select at::text from generate_series(timestamptz '2024-01-01 00:30Z', '2028-01-01 00:00Z', '12 hours') at
          where ${bound.replaceAll('now()', 'at')} <= month_ids(at + interval '1 day')`,
        );
        t.same(missed, [], `${name}, ${zone}`);
      }
    }
  },
);
