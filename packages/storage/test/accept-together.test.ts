import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  type Acceptance,
  type Accepted,
  acceptPoll,
  balanceOf,
  checkLedger,
  claimPoll,
  findKeyLimit,
  freezeAccount,
  insertKey,
  openStorage,
  pollAccepter,
  pollFinisher,
  type Storage,
  StorageUnavailable,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  finished,
  funded,
  GENEROUS,
  limitedKey,
  newPoll,
  open,
  spec,
  together,
  USD,
  unique,
  vote,
} from './fixtures.ts';
import { isWaitedFor, session } from './sessions.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 4 s

const fixture = await open(t, { maxConnections: 8 });
const { storage, query } = fixture;

const accepterOf = (of: Storage) => pollAccepter(of, (_, call) => call());
const accept = accepterOf(storage);

function ask(accountId: string, more: Partial<Acceptance> = {}, poll: Parameters<typeof newPoll>[1] = {}): Acceptance {
  const limits = { running: 100, runningOfKey: 90, waiting: 95 };
  return acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId, ...poll }), limits, ...more });
}

const many = (count: number, make: (place: number) => Acceptance) => Array.from({ length: count }, (_, i) => make(i));

const kindsOf = (answers: readonly Accepted[]) => {
  const counts: Record<string, number> = {};
  for (const { kind } of answers) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

const transactionsOf = async (accountId: string) => {
  const [row] = await query<{ polls: number; transactions: number }>(
    'select count(*)::int as polls, count(distinct xmin::text)::int as transactions from polls where account_id = $1',
    [accountId],
  );
  return row!;
};

t.test('50 at once with a balance for 20: exactly 20 are accepted, and each other hears what is left', async (t) => {
  const accountId = await funded(storage, 20n * USD);
  const answers = await Promise.all(many(50, () => ask(accountId)).map(accept));
  t.same(kindsOf(answers), { accepted: 20, insufficient: 30 });
  t.match(answers.at(-1), { kind: 'insufficient', availableU: 0n, settlingU: 0n, retryAfterS: null });
  t.match(await balanceOf(storage, accountId), { heldU: 20n * USD, availableU: 0n });
  const { polls, transactions } = await transactionsOf(accountId);
  t.equal(polls, 20);
  t.ok(transactions <= 5, `${transactions} transactions`);
  t.same(await checkLedger(storage), []);
});

t.test('what polls hold, batches have set aside, and payments hold back, is not there for polls at once', async (t) => {
  for (const column of ['reserved_u', 'held_back_u']) {
    const accountId = await funded(storage, 40n * USD);
    const set = (amountU: bigint) =>
      query(`update balances set ${column} = $2 where account_id = $1`, [accountId, String(amountU)]);
    t.match(await accept(ask(accountId, { holdU: 10n * USD }, { spec: { ...spec, max_cost_u: 10_000_000 } })), {
      kind: 'accepted',
    });
    await set(20n * USD);
    const answers = await Promise.all(many(20, () => ask(accountId)).map(accept));
    t.same(kindsOf(answers), { accepted: 10, insufficient: 10 }, column);
    t.match(await balanceOf(storage, accountId), { heldU: 20n * USD });
    await set(0n);
  }
});

t.test('50 at once of a key with a limit for 20: exactly 20 are accepted', async (t) => {
  const accountId = await funded(storage, 90n * USD);
  const keyId = await limitedKey(storage, accountId, 20n * USD);
  const answers = await Promise.all(many(50, () => ask(accountId, {}, { keyId })).map(accept));
  t.same(kindsOf(answers), { accepted: 20, key_limit: 30 });
  t.match(await findKeyLimit(storage, keyId), { spentU: 0n, heldU: 20n * USD });
  t.match(await balanceOf(storage, accountId), { heldU: 20n * USD });
});

t.test('a smaller poll is accepted after larger ones of the same call were refused', async (t) => {
  const accountId = await funded(storage, 10n * USD);
  const holds = [4n, 4n, 4n, 1n, 9n, 1n].map((usd) => usd * USD);
  const large = { ...spec, max_cost_u: 20_000_000 };
  const answers = [];
  const accept = pollAccepter(storage, oneByOne());
  for (const { kind } of await Promise.all(holds.map((holdU) => accept(ask(accountId, { holdU }, { spec: large })))))
    answers.push(kind);
  t.same(answers, ['accepted', 'accepted', 'insufficient', 'accepted', 'insufficient', 'accepted']);
  t.match(await balanceOf(storage, accountId), { heldU: 10n * USD });
});

t.test('limits of running polls, of those of a key, and of those that wait hold to the poll', async (t) => {
  for (const [limits, kind] of [
    [{ running: 20, waiting: 95 }, 'too_many'],
    [{ running: 100, runningOfKey: 20 }, 'too_many_of_key'],
    [{ running: 100, waiting: 19 }, 'too_late'],
  ] as const) {
    const accountId = await funded(storage, 90n * USD);
    const keyId = await limitedKey(storage, accountId, 90n * USD);
    const answers = await Promise.all(many(50, () => ask(accountId, { limits }, { keyId })).map(accept));
    t.same(kindsOf(answers), { accepted: 20, [kind]: 30 }, kind);
    const ranks = answers.flatMap((answer) => (answer.kind === 'accepted' ? [answer.rank] : []));
    t.same(
      ranks.toSorted((a, b) => a - b),
      [...Array(20).keys()],
      'each knows how many were before it',
    );
    t.match(
      await query("select count(*)::int as n from polls where account_id = $1 and status = 'running'", [accountId]),
      [{ n: 20 }],
    );
  }
});

t.test('polls of another key do not count for a key', async (t) => {
  const accountId = await funded(storage, 90n * USD);
  const [one, other] = [
    await limitedKey(storage, accountId, 90n * USD),
    await limitedKey(storage, accountId, 90n * USD),
  ];
  const limits = { running: 100, runningOfKey: 10 };
  for (const keyId of [one, other]) {
    const answers = await Promise.all(many(10, () => ask(accountId, { limits }, { keyId })).map(accept));
    t.same(kindsOf(answers), { accepted: 10 });
  }
  const { polls, transactions } = await transactionsOf(accountId);
  t.ok(polls === 20 && transactions <= 4, `${transactions} transactions`);
});

t.test('polls of a tenant are accepted one call after the other', async (t) => {
  const accountId = await funded(storage, 9n * USD);
  const before = await session(t, fixture);
  await before.query('begin');
  await before.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [accountId]);
  const answers = Promise.all(many(2, () => ask(accountId)).map(accept));
  await isWaitedFor(t, fixture, before);
  t.match(await transactionsOf(accountId), { polls: 0 });
  await before.query('commit');
  t.same(kindsOf(await answers), { accepted: 2 });
});

t.test(
  'an idempotency key twice in a call is one poll, with another body a refusal, and the others are accepted',
  async (t) => {
    const accountId = await funded(storage, 20n * USD);
    const key = unique('key-');
    const keyed = (fingerprint: string, name = key) =>
      ask(accountId, { idempotency: { principal: accountId, key: name, fingerprint } });
    const [first, again, other, ...rest] = await Promise.all(
      [keyed('a'), keyed('a'), keyed('b'), ...many(6, () => keyed('a', unique('key-')))].map(
        pollAccepter(storage, oneByOne()),
      ),
    );
    t.match(first, { kind: 'accepted' });
    t.match(again, { kind: 'joined', pollId: (first as { pollId: string }).pollId });
    t.match(other, { kind: 'reused' });
    t.same(kindsOf(rest), { accepted: 6 });
    const later = await Promise.all([keyed('a'), keyed('b'), keyed('a', unique('key-'))].map(accept));
    t.same(
      later.map(({ kind }) => kind),
      ['joined', 'reused', 'accepted'],
      'a key of an earlier call',
    );
    t.match(await balanceOf(storage, accountId), { heldU: 8n * USD });
  },
);

t.test('a refusal leaves the keys of its call free', async (t) => {
  const accountId = await funded(storage, 0n);
  const polls = many(4, () =>
    ask(accountId, { idempotency: { principal: accountId, key: unique('key-'), fingerprint: 'a' } }),
  );
  t.same(kindsOf(await Promise.all(polls.map(accept))), { insufficient: 4 });
  t.match(await query('select count(*)::int as n from idempotency where principal = $1', [accountId]), [{ n: 0 }]);
});

t.test('polls of an account never wait for another account', async (t) => {
  const [busy, neighbour] = [await funded(storage, 20n * USD), await funded(storage, 20n * USD)];
  await using other = openStorage({ databaseUrl: fixture.url, ...GENEROUS });
  const locked = Promise.withResolvers<void>();
  const unlock = Promise.withResolvers<void>();
  const locking = other.db.transaction().execute(async (tx) => {
    await tx.selectFrom('balances').where('account_id', '=', busy).select('posted_u').forUpdate().execute();
    locked.resolve();
    await unlock.promise;
  });
  await locked.promise;
  const waiting = many(20, () => ask(busy)).map(accept);
  t.same(kindsOf(await Promise.all(many(20, () => ask(neighbour)).map(accept))), { accepted: 20 });
  t.match(await balanceOf(storage, busy), { heldU: 0n });
  unlock.resolve();
  await locking;
  t.same(kindsOf(await Promise.all(waiting)), { accepted: 20 });
});

t.test('one that Postgres refuses leaves the others accepted', async (t) => {
  const accountId = await funded(storage, 20n * USD);
  const fine = () => ask(accountId);
  const tooLarge = ask(accountId, { holdU: 2n * USD });
  const unreadable = ask(accountId, {}, { deadlineMs: 1.5 });
  const answers = await Promise.allSettled(
    [fine(), fine(), tooLarge, fine(), unreadable, fine()].map(pollAccepter(storage, oneByOne())),
  );
  t.same(
    answers.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    'a hold above its max_cost_u, and a value of the wrong type',
  );
  t.match(answers[2], { reason: { name: 'StorageRefused', code: 'EP003' } });
  t.match(await balanceOf(storage, accountId), { heldU: 4n * USD });
  t.same(await checkLedger(storage), []);
});

t.test('polls of a frozen account are refused, each as such', async (t) => {
  const accountId = await funded(storage, 20n * USD);
  await freezeAccount(storage, accountId);
  t.same(kindsOf(await Promise.all(many(5, () => ask(accountId)).map(accept))), { frozen: 5 });
});

t.test('the ceiling of provider spend is the same for polls that go together', async (t) => {
  const own = await open(t);
  const accounts = await Promise.all([1, 2].map(() => funded(own.storage, 90n * USD)));
  const ceiling = { hourU: 20_500n, dayU: 90_000n };
  const accept = accepterOf(own.storage);
  const polls = accounts.flatMap((accountId) => many(25, () => ask(accountId, { providerMaxU: 1_000, ceiling })));
  t.same(kindsOf(await Promise.all(polls.map(accept))), { accepted: 20, over_ceiling: 30 });
  t.match(await own.query('select sum(hour_u)::int as hour, sum(day_held_u)::int as held from provider_spend'), [
    { hour: 20_000, held: 20_000 },
  ]);
  t.same(await checkLedger(own.storage), []);
});

t.test('a call leaves the rows that accepting one by one leaves', async (t) => {
  const own = await open(t);
  const rows = async (accept: (acceptance: Acceptance) => Promise<Accepted>) => {
    const accountId = await funded(own.storage, 90n * USD);
    const limit = { limitU: 50n * USD, reset: 'monthly' as const };
    const { id: keyId } = await insertKey(own.storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_', limit });
    const ceiling = { hourU: 9n * USD, dayU: 9n * USD };
    const polls = many(5, (place) =>
      ask(
        accountId,
        {
          holdU: BigInt(1_000 + place),
          ...{ providerMaxU: 700 + place, ceiling },
          ...(place > 2 && {
            idempotency: { principal: accountId, key: `key-${place}`, fingerprint: `print-${place}` },
          }),
        },
        {
          ...{ keyId, requestId: `r${place}`, isAwaited: place === 1, deadlineMs: 1_000 * place },
          ...(place % 2 && {
            metadata: { team: `t${place}`, line: '1' },
            webhookUrl: 'https://hooks.example/x',
            contextId: 'c',
          }),
        },
      ),
    );
    const answers = await Promise.all(polls.map(accept));
    t.same(
      answers.map((answer) => answer.kind === 'accepted' && answer.rank),
      [0, 1, 2, 3, 4],
    );
    return read(
      own,
      accountId,
      polls.map(({ poll }) => poll.id),
    );
  };
  let before = Promise.resolve<unknown>(null);
  const alone = await rows((one) => {
    const answer = before.then(() => acceptPoll(own.storage, one));
    before = answer;
    return answer;
  });
  t.same(await rows(accepterOf(own.storage)), alone);
  t.same(await wholeCheck(own.storage), []);
});

t.test('an answer that is lost: each poll of the call is accepted once', async (t) => {
  const accountId = await funded(storage, 20n * USD);
  const polls = many(6, () => ask(accountId));
  let lost = 0;
  const accept = pollAccepter(storage, async (_, call) => {
    const answer = await call();
    if (Array.isArray(answer) && lost++ === 0) throw new Error('the connection broke');
    return answer;
  });
  const answers = await Promise.all(polls.map(accept));
  t.same(
    answers.map((answer) => answer.kind === 'accepted' && answer.pollId),
    polls.map(({ poll }) => poll.id),
  );
  t.equal(lost, 1);
  t.match(await transactionsOf(accountId), { polls: 6, transactions: 1 });
  t.match(await balanceOf(storage, accountId), { heldU: 6n * USD });
});

t.test('an answer that is lost, and no turn for a call of its own: it is not said that no poll was made', async (t) => {
  const accountId = await funded(storage, 20n * USD);
  const polls = many(3, () => ask(accountId));
  const broke = new Error('the connection broke');
  const heard: unknown[] = [];
  let calls = 0;
  const accept = pollAccepter(
    storage,
    async (_, call, lost) => {
      if (calls++ > 0) throw lost ?? new Error('no poll was made');
      await call();
      throw broke;
    },
    (error) => heard.push(error),
  );
  const answers = await Promise.allSettled(polls.map(accept));
  t.same(
    answers.map((answer) => answer.status === 'rejected' && answer.reason === broke),
    [true, true, true],
  );
  t.same(heard, [broke]);
  t.match(await transactionsOf(accountId), { polls: 3, transactions: 1 });
});

t.test('no turn for a joint call: its polls get that answer at once, and nothing counts as lost', async (t) => {
  const accountId = await funded(storage, 20n * USD);
  const noTurn = new Error('no poll was made');
  const heard: unknown[] = [];
  let turns = 0;
  const accept = pollAccepter(
    storage,
    async () => {
      turns += 1;
      throw noTurn;
    },
    (error) => heard.push(error),
  );
  const answers = await Promise.allSettled(many(3, () => ask(accountId)).map(accept));
  for (const answer of answers) t.match(answer, { status: 'rejected', reason: noTurn });
  t.equal(turns, 1);
  t.same(heard, []);
});

t.test('an answer that is lost, and then no connection: what is thrown says that there may be a poll', async (t) => {
  for (const count of [1, 3]) {
    const accountId = await funded(storage, 20n * USD);
    let calls = 0;
    const call: Storage['call'] = async <Row>(text: string, values: readonly unknown[]) => {
      if (calls++ > 0) throw new StorageUnavailable('no connection', { wasSent: false });
      await storage.call<Row>(text, values);
      throw new StorageUnavailable('the answer was lost');
    };
    const accept = pollAccepter({ ...storage, call }, (_, accepts) => accepts());
    const answers = await Promise.allSettled(many(count, () => ask(accountId)).map(accept));
    for (const answer of answers) t.match(answer, { status: 'rejected', reason: { wasSent: true } });
    t.equal(calls, count + 1, 'each is tried once by itself, or once again');
    t.match(await transactionsOf(accountId), { polls: count, transactions: 1 });
    const away = await Promise.allSettled(many(count, () => ask(accountId)).map(accept));
    for (const answer of away) t.match(answer, { status: 'rejected', reason: { wasSent: false } });
    t.match(await transactionsOf(accountId), { polls: count });
  }
});

t.test(
  'two gateways that accept for the same accounts while a worker ends polls: every poll is answered, and the books are exact',
  async (t) => {
    const own = await open(t, { maxConnections: 6 });
    await using second = openStorage({ databaseUrl: own.url, maxConnections: 6, ...GENEROUS });
    const gateways = [accepterOf(own.storage), accepterOf(second)];
    const accounts = await Promise.all([1, 2, 3].map(() => funded(own.storage, 30_000n)));
    const finish = pollFinisher(own.storage);
    const answers = await together(600, 60, async (index) => {
      const accountId = accounts[index % 3]!;
      // A dozen polls have each key, some at the same time in both gateways.
      const idempotency = { principal: accountId, key: `key-${Math.floor(index / 12) % 25}`, fingerprint: 'body' };
      const keyed = index % 4 === 0 && { idempotency };
      const ceiling = { hourU: USD, dayU: USD };
      const poll = ask(accountId, { holdU: 900n, providerMaxU: 100, ceiling, ...keyed });
      const answer = await gateways[index % 2]!(poll);
      if (answer.kind !== 'accepted') return answer;
      const claim = await claimPoll(own.storage, answer.pollId, 'worker');
      await finish({ ...finished(claim!, { votes: [vote(0, { billed_u: 30 })] }), payer: accountId });
      return answer;
    });
    const { accepted, insufficient = 0, joined } = kindsOf(answers);
    t.equal(accepted! + insufficient + joined!, 600, 'and nothing failed');
    t.match(await own.query('select sum(hour_held_u)::int as held from provider_spend'), [{ held: 0 }]);
    for (const accountId of accounts) t.match(await balanceOf(own.storage, accountId), { heldU: 0n });
    t.same(await wholeCheck(own.storage), []);
  },
);

/** Calls of one payer after each other. */
function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(_: string, call: () => Promise<T>): Promise<T> => {
    const answer = last.then(call);
    last = answer.catch(() => {});
    return answer;
  };
}

/** All that is stored of these polls, without what is drawn and when it was. */
async function read({ query }: Fixture, accountId: string, ids: readonly string[]) {
  const drawn = `array['id', 'result_id', 'account_id', 'tenant', 'key_id', 'spend_shard', 'poll_id', 'debit', 'principal', 'label_id', 'idem',
                       'created_at', 'lease_until', 'deadline_at', 'expires_at', 'at', 'posted_at', 'updated_at']`;
  const rows = (table: string, where: string, order: string) =>
    query(`select to_jsonb(r) - ${drawn} as row from ${table} r where ${where} order by ${order}`, [
      where.includes('any') ? ids : accountId,
    ]);
  return {
    polls: await rows('polls', 'id = any($1)', 'request_id'),
    waits: await query(
      `select round(extract(epoch from deadline_at - created_at)) as deadline, round(extract(epoch from lease_until - created_at)) as lease
         from polls where id = any($1) order by request_id`,
      [ids],
    ),
    transfers: await rows('transfers', 'poll_id = any($1)', 'amount_u'),
    labels: await rows('poll_labels', 'poll_id = any($1)', 'label, poll_id'),
    keys: await rows('idempotency', 'poll_id = any($1)', 'key'),
    limits: await rows('key_limits', 'account_id = $1', 'key_id'),
    balances: await rows('balances', 'account_id = $1', 'account_id'),
  };
}
