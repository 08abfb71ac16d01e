import { randomBytes, randomUUID } from 'node:crypto';
import { accountTag, newBatchId } from '@eloquentpoll/polls';
import { ownerUrl } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { expectAccount } from '../src/cells/moves.ts';
import {
  acceptPoll,
  addBatchRows,
  admitIdentity,
  admitPayer,
  balanceOf,
  cancelBatch,
  checkLedger,
  claimBatches,
  claimPoll,
  closeAccount,
  compareCells,
  creditAccount,
  creditDeposit,
  deleteBatch,
  deletePoll,
  dropMonths,
  emptyClosedAccounts,
  emptyExpiredPolls,
  endBatch,
  findBatch,
  findCheckout,
  findKeyByHash,
  findLogin,
  findReceiptSource,
  findResult,
  finishPoll,
  followCheckout,
  insertKey,
  insertLogin,
  isCredentialOpen,
  leadHome,
  listPolls,
  listWebhookEndpoints,
  MoveRefused,
  type MoveStep,
  matchTransfer,
  moveAccount,
  nameOfIdentity,
  nameOfKey,
  noteHanded,
  openBatch,
  openCheckout,
  openMisfits,
  openStorage,
  problemsWithMove,
  pruneExpired,
  publishCheckout,
  refuseMovedLogin,
  refuseMovedName,
  refuseMovedResult,
  releaseHeldBack,
  reserveDeposit,
  reverseCredit,
  revokeKey,
  routerMaps,
  savePanel,
  settleMoves,
  startBatch,
  storeFeedback,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, newPoll, spec, USD, unique } from './fixtures.ts';
import { session } from './sessions.ts';
import { clean, endedPoll, openCell, RULES, richAccount, seen, type TestCell, twoCells } from './two-cells.ts';

// slow: 8 s

const STEPS: MoveStep[] = ['copied', 'frozen', 'drained', 'copied_all', 'left', 'arrived'];
const movingTo = (cell: string | null) => ({ name: 'AccountMoving', movedTo: cell });

t.test('an account that moves takes everything along, and back, whatever step its move was killed after', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  const { accountId } = rich;
  const before = await seen(a, rich);
  t.ok(before.balance!.heldBackU > 0n && before.balance!.usageU > 0n && before.labels.length === 3);

  for (const step of STEPS)
    await t.rejects(move(accountId, a, b, { stopAfter: step }), { message: `killed after ${step}` });
  const moved = await move(accountId, a, b).catch((error: unknown) => error);
  t.match(moved, { name: 'MoveRefused', message: /lives in cell 1/ }, 'the last one had finished it');
  t.same(await seen(b, rich), before);
  await clean(t, 'there', a, b);

  await t.test('the source says where everything is', async (t) => {
    t.equal(await findKeyByHash(a.storage, rich.hash), null);
    t.equal(await findLogin(a.storage, rich.loginId), null);
    t.notOk(await isCredentialOpen(a.storage, accountId, { loginId: rich.loginId }));
    t.equal(await findResult(a.storage, rich.polls[0]!.resultId), null);
    await t.rejects(refuseMovedName(a.storage, nameOfKey(rich.hash)), movingTo('1'));
    await t.rejects(refuseMovedLogin(a.storage, rich.loginId), movingTo('1'));
    await t.rejects(refuseMovedResult(a.storage, rich.polls[2]!.resultId), movingTo('1'));
    await t.rejects(admitIdentity(a.storage, { kind: 'wallet', address: rich.address }), movingTo('1'));
    await t.rejects(acceptPoll(a.storage, acceptance(accountId)), movingTo('1'), 'a key that was cached');
    await t.rejects(deletePoll(a.storage, accountId, rich.polls[0]!.id), movingTo('1'));
    t.equal((await balanceOf(a.storage, accountId))!.postedU, 0n);
    const name = nameOfIdentity({ kind: 'oidc', issuer: 'https://id.example', subject: 'x' });
    await refuseMovedName(a.storage, name);
    t.same(await routerMaps([a.cell, b.cell]), {
      accounts: `${accountTag(accountId)} 1;\n`,
      results: rich.polls
        .map(({ resultId }) => `${resultId} 1;\n`)
        .toSorted()
        .join(''),
    });
  });

  await t.test('the target goes on', async (t) => {
    const idempotency = { principal: accountId, key: 'key 1', fingerprint: 'same' };
    const repeated = await acceptPoll(b.storage, acceptance(accountId, { idempotency }));
    t.same(repeated, { kind: 'joined', pollId: rich.polls[1]!.id }, 'a repeat finds the poll of before');
    rich.polls.push(await endedPoll(b, accountId, rich.keyId));
    t.match(await findKeyByHash(b.storage, rich.hash), { accountId, keyId: rich.keyId });
    t.match(await findLogin(b.storage, rich.loginId), { accountId });
    t.ok(await isCredentialOpen(b.storage, accountId, { loginId: rich.loginId, keyId: rich.keyId }));
    const day = (await findReceiptSource(b.storage, rich.polls[0]!.resultId))!.day;
    t.equal(day, new Date().toISOString().slice(0, 10));
    t.same(await deletePoll(b.storage, accountId, rich.polls[1]!.id), {
      outcome: 'deleted',
      pollId: rich.polls[1]!.id,
    });
    await clean(t, 'after a poll', a, b);
  });

  const there = await seen(b, rich);
  await move(accountId, b, a);
  t.same(await seen(a, rich), there, 'and back');
  t.equal(await findResult(a.storage, rich.polls[1]!.resultId), null, 'what was deleted there is deleted here');
  await clean(t, 'back', a, b);
  t.same((await routerMaps([a.cell, b.cell])).accounts, `${accountTag(accountId)} 0;\n`);
  await endedPoll(a, accountId, rich.keyId);
  await move(accountId, a, b);
  await clean(t, 'there again', a, b);
  t.equal((await compareCells([a.cell, b.cell])).moves, 3);
});

t.test('while an account moves nothing of it changes, its polls end, and it can be read', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  const { accountId } = rich;
  const running = newPoll(accountId);
  await acceptPoll(a.storage, acceptance(accountId, { poll: running }));
  const moving = move(accountId, a, b, { drainS: 30 });
  const isFrozen = async () => (await a.query('select from accounts where moving_at is not null')).length > 0;
  while (!(await isFrozen())) await new Promise((resolve) => setTimeout(resolve, 20));

  await t.rejects(acceptPoll(a.storage, acceptance(accountId)), movingTo(null));
  const changes: Record<string, () => Promise<unknown>> = {
    'a new key': () => insertKey(a.storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_12345' }),
    'a revoked key': () => revokeKey(a.storage, accountId, rich.keyId),
    'a login': () => insertLogin(a.storage, { accountId }),
    'a panel': () => savePanel(a.storage, accountId, { name: 'other', models: ['a/1', 'b/2', 'c/3'] }),
    'a deleted poll': () => deletePoll(a.storage, accountId, rich.polls[0]!.id),
    feedback: () =>
      storeFeedback(a.storage, {
        accountId,
        resultId: rich.polls[1]!.resultId,
        outcomeCorrect: true,
        confidence: 1,
        notes: null,
      }),
  };
  for (const [name, change] of Object.entries(changes)) await t.rejects(change(), movingTo(null), name);
  t.match(await findKeyByHash(a.storage, rich.hash), { accountId, isFrozen: false }, 'its key still reads');
  t.ok(await findResult(a.storage, rich.polls[0]!.resultId));
  await finishPoll(a.storage, finished((await claimPoll(a.storage, running.id, 'w'))!));
  const { amountU, frozenMs } = await moving;
  t.equal(amountU, (await balanceOf(b.storage, accountId))!.postedU);
  t.ok(frozenMs > 0);
  t.ok(await findResult(b.storage, running.resultId), 'the poll that ended meanwhile went along');
  await clean(t, 'there', a, b);
});

async function uploaded({ storage }: Pick<Fixture, 'storage'>, accountId: string): Promise<string> {
  const id = newBatchId();
  await openBatch(storage, { id, accountId, maxOpen: 5 });
  await addBatchRows(storage, id, [row(1)]);
  return id;
}

const row = (line: number) => ({ line, customId: `row ${line}`, order: spec, gold: null });

const start = ({ storage }: Pick<Fixture, 'storage'>, accountId: string, id: string) =>
  startBatch(storage, {
    ...{ id, accountId, reserveU: USD, maxCostU: null, metadata: {}, skipped: { count: 0, first: [] }, keepS: 60 },
  });

async function endedBatch(cell: Pick<Fixture, 'storage'>, accountId: string): Promise<string> {
  const id = await uploaded(cell, accountId);
  await start(cell, accountId, id);
  const [claimed] = await claimBatches(cell.storage, 'runner', 60_000, 1);
  await cancelBatch(cell.storage, accountId, id);
  await endBatch(cell.storage, claimed!, 'canceled');
  return id;
}

t.test(
  'what others and workers delete beside an account that moves is deleted, and uploads do not hold it up',
  async (t) => {
    const { a, b, move } = await twoCells(t);
    const rich = await richAccount(a);
    const { accountId } = rich;
    const owner = await funded(a.storage, 5n * USD);
    const polls = [await endedPoll(a, owner), await endedPoll(a, owner)];
    for (const { resultId } of polls)
      await storeFeedback(a.storage, { accountId, resultId, outcomeCorrect: true, confidence: 1, notes: null });
    const ended = await endedBatch(a, accountId);
    await t.rejects(move(accountId, a, b, { stopAfter: 'copied' }));
    const [brokenOff, underWay] = [await uploaded(a, accountId), await uploaded(a, accountId)];
    await t.rejects(move(accountId, a, b, { stopAfter: 'frozen' }), { message: 'killed after frozen' });

    await t.rejects(addBatchRows(a.storage, underWay, [row(2)]), movingTo(null));
    await t.rejects(start(a, accountId, underWay), movingTo(null));
    t.equal(await deleteBatch(a.storage, accountId, underWay), 'deleted', 'as its gateway does');
    await t.rejects(deleteBatch(a.storage, accountId, ended), movingTo(null), 'what its caller deletes');
    await a.query("update batches set loading_until = now() - interval '1 second' where id = $1", [brokenOff]);
    await pruneExpired(a.storage);
    t.same(await a.query('select id from batches where id <> $1', [ended]), []);
    t.match(await deletePoll(a.storage, owner, polls[0]!.id), { outcome: 'deleted' });

    await move(accountId, a, b);
    t.ok(await findBatch(b.storage, accountId, ended));
    await a.query("update batches set keep_until = now() - interval '1 second'");
    await pruneExpired(a.storage);
    t.same(await a.query('select id from batches'), []);
    await a.query("update polls set expires_at = now() - interval '1 second' where spec ? 'question'");
    const left = [polls[1]!, ...rich.polls].map(({ id }) => id);
    t.same((await emptyExpiredPolls(a.storage)).toSorted(), left.toSorted());
    t.same(await a.query('select 1 from feedback'), []);
    await clean(t, 'there', a, b);
  },
);

t.test('the target of a move that failed among its tables says of no limit that it is not what was used', async (t) => {
  const { a, b, move } = await twoCells(t);
  const { accountId } = await richAccount(a);
  await endedBatch(a, accountId);
  await b.query(`create function fail() returns trigger language plpgsql as $$ begin raise exception 'full'; end $$`);
  await b.query('create trigger fails before insert on batch_rows for each row execute function fail()');
  await t.rejects(move(accountId, a, b), { name: 'StorageRefused', cause: { message: 'full' } });
  t.match(await b.query('select count(*)::int as keys from api_keys'), [{ keys: 1 }]);
  t.same(await checkLedger(b.storage), []);
  await b.query('drop trigger fails on batch_rows');
  await move(accountId, a, b);
  await clean(t, 'there', a, b);
});

t.test('a move waits for changes that had begun before the account was frozen, and takes them along', async (t) => {
  const { a, b, move } = await twoCells(t);
  const { accountId } = await richAccount(a);
  const changing = await session(t, a);
  await changing.query('begin');
  await changing.query(`update webhook_endpoints set url = 'https://new.example/' where account_id = $1`, [accountId]);
  // Closing an account and changing its keys lock it before their rows: a change that waited for it here would wait in a circle.
  await a.query('select from accounts where id = $1 for update nowait', [accountId]);
  await t.rejects(move(accountId, a, b, { drainS: 0.2 }), { name: 'MoveRefused', message: /1 transactions/ });

  const moving = move(accountId, a, b, { drainS: 30 });
  await eventually('the account is frozen', async () => {
    return (await a.query('select from accounts where moving_at is not null')).length > 0;
  });
  await changing.query('commit');
  await moving;
  t.match(await listWebhookEndpoints(b.storage, accountId), [{ url: 'https://new.example/' }]);
  await clean(t, 'there', a, b);
});

t.test('a move that does not come to its end in time changes nothing', async (t) => {
  const { a, b, move } = await twoCells(t);
  const accountId = await funded(a.storage, 5n * USD);
  await insertKey(a.storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_12345' });
  await endedPoll(a, accountId);
  const running = newPoll(accountId);
  await acceptPoll(a.storage, acceptance(accountId, { poll: running }));
  await t.rejects(move(accountId, a, b, { drainS: 0.2 }), MoveRefused);
  t.match(await acceptPoll(a.storage, acceptance(accountId)), { kind: 'accepted' });
  await emptyClosedAccounts(b.storage);
  t.match(
    await b.query('select emptied_at is not null as emptied, moved_to from accounts where id = $1', [accountId]),
    [{ emptied: true, moved_to: '0' }],
  );
  t.same(await b.query("select 1 from polls where spec ? 'question'"), []);
  await clean(t, 'here', a, b);
});

t.test('an account that is closed while its move copies it stays closed, and its results are nowhere', async (t) => {
  const { a, b, move } = await twoCells(t);
  // Closed before its move froze it, and frozen nevertheless by a command that did not look.
  const freezeClosed = async (accountId: string) => {
    await a.query("update account_moves set state = 'frozen', frozen_at = now() where account_id = $1", [accountId]);
    await a.query('update accounts set moving_at = now() where id = $1', [accountId]);
    const leave = a.query("select leave_cell(id, '1 hour') from account_moves where account_id = $1", [accountId]);
    await t.rejects(leave, { code: 'EP008' });
  };
  for (const state of ['copying', 'frozen']) {
    await t.test(`and then goes on from ${state}`, async (t) => {
      const { accountId, polls } = await richAccount(a);
      await t.rejects(move(accountId, a, b, { stopAfter: 'copied' }), { message: 'killed after copied' });
      t.ok(await closeAccount(a.storage, accountId));
      if (state === 'frozen') await freezeClosed(accountId);
      await t.rejects(move(accountId, a, b), { name: 'MoveRefused', message: /was closed/ });
      await t.rejects(move(accountId, a, b), { name: 'MoveRefused', message: /no open account/ });
      for (const { storage, query } of [a, b]) {
        for (const { resultId } of polls) t.equal(await findResult(storage, resultId), null);
        t.same(
          await query('select moving_at, deleted_at is not null as closed from accounts where id = $1', [accountId]),
          [{ moving_at: null, closed: true }],
        );
      }
      await emptyClosedAccounts(b.storage);
      t.same(
        await b.query("select 1 from polls where spec ? 'question'"),
        [],
        'nor does their text stay in the target',
      );
    });
  }
  await clean(t, 'closed', a, b);
});

t.test('money that comes late follows, and so does a debt', async (t) => {
  const { a, b, move } = await twoCells(t);
  const accountId = await funded(a.storage, 5n * USD);
  await move(accountId, a, b);
  await creditAccount(a.storage, { accountId, amountU: 3n * USD, source: 'chain', idem: unique('late:') }).catch(
    () => {},
  );
  t.match(await settleMoves(a.cell, b.cell), [{ accountId, amountU: 3n * USD }]);
  t.same(await settleMoves(a.cell, b.cell), []);
  t.equal((await balanceOf(b.storage, accountId))!.postedU, 8n * USD);
  await reverseCredit(a.storage, { accountId, amountU: 9n * USD, source: 'operator', idem: unique('back:') });
  t.match(await settleMoves(a.cell, b.cell), [{ amountU: -9n * USD }]);
  t.equal((await balanceOf(b.storage, accountId))!.postedU, -USD);
  await move(accountId, b, a);
  t.equal((await balanceOf(a.storage, accountId))!.postedU, -USD, 'a debt moves too');
  const compared = await compareCells([a.cell, b.cell]);
  t.same([compared.leftU - compared.arrivedU, compared.wrong], [0n, []]);
  for (const { storage } of [a, b])
    t.same(
      (await checkLedger(storage)).filter(({ rule }) => rule !== 'chain_credit'),
      [],
    );
});

t.test('a card payment that is credited or taken back after a move is held back where the account lives', async (t) => {
  const { a, b, move } = await twoCells(t);
  const accountId = await funded(a.storage, 0n);
  async function opened(amountCents: number) {
    const id = await openCheckout(a.storage, { accountId, amountCents });
    const processorId = unique('cs_');
    await publishCheckout(a.storage, id, { processorId, url: 'https://pay.example', livemode: false });
    return async (reversedCents: number) => {
      const facts = { processorId, paymentIntent: processorId, livemode: false, isPaid: true, isExpired: false };
      await followCheckout(a.storage, (await findCheckout(a.storage, { id }))!, { ...facts, reversedCents }, RULES);
    };
  }
  const balance = async () => {
    const { postedU, heldBackU } = (await balanceOf(b.storage, accountId))!;
    return [postedU / USD, heldBackU / USD];
  };
  const [early, late] = [await opened(10_000), await opened(3_000)];
  await early(0);
  await move(accountId, a, b);
  t.same(await balance(), [100n, 50n]);
  await early(8_000);
  await settleMoves(a.cell, b.cell);
  t.same(await balance(), [20n, 20n], 'no more than is left of it');
  await early(2_000);
  await late(0);
  await settleMoves(a.cell, b.cell);
  t.same(await balance(), [110n, 20n + 30n], 'what was given back is free');
  t.same(await a.query('select reason from misfits'), [], 'an operator has nothing to pay back');
  await clean(t, 'held back', a, b);
  await b.query("update checkouts set settles_at = now() - interval '1 second'");
  t.equal(await releaseHeldBack(b.storage), 2);
  t.same(await balance(), [110n, 0n]);
  await move(accountId, b, a);
  await clean(t, 'back', a, b);
});

t.test('late money that did not arrive holds up none that comes after a further move', async (t) => {
  const { a, b, move } = await twoCells(t);
  const c = await openCell(t, '2');
  const accountId = await funded(a.storage, USD);
  const late = () => creditAccount(a.storage, { accountId, amountU: USD, source: 'operator', idem: unique('late:') });
  await move(accountId, a, c);
  await late();
  const away = openStorage({ databaseUrl: ownerUrl(c.url), maxConnections: 1 });
  await away[Symbol.asyncDispose]();
  await t.rejects(settleMoves(a.cell, { name: '2', storage: away }));
  await move(accountId, c, b);
  const cells = [a.cell, b.cell, c.cell];
  await leadHome(cells);
  await late();
  // As the command does, day after day.
  for (const _day of [1, 2])
    for (const from of cells) for (const to of cells) if (from !== to) await settleMoves(from, to);
  t.equal((await balanceOf(b.storage, accountId))!.postedU, 3n * USD);
  await clean(t, 'settled', a, b, c);
});

t.test('money that follows an account to where its owner has closed it is shown to operators', async (t) => {
  const { a, b, move } = await twoCells(t);
  const accountId = await funded(a.storage, 0n);
  await move(accountId, a, b);
  await closeAccount(b.storage, accountId);
  const late = (amountU: bigint) =>
    creditAccount(a.storage, { accountId, amountU, source: 'operator', idem: unique('late:') });
  await late(3n * USD);
  await settleMoves(a.cell, b.cell);
  await settleMoves(a.cell, b.cell);
  const found = await openMisfits(b.storage, 10);
  t.match(found, [
    { source: 'card', reason: 'closed_account', amountU: 3n * USD, details: { account_id: accountId, from_cell: '0' } },
  ]);
  await reverseCredit(a.storage, { accountId, amountU: USD, source: 'operator', idem: unique('back:') });
  await settleMoves(a.cell, b.cell);
  t.equal((await openMisfits(b.storage, 10)).length, 1, 'what is taken back is not to be paid back');
  t.same(await openMisfits(a.storage, 10), []);
  await clean(t, 'closed where it lived', a, b);
});

t.test('a deposit that was under way when its account left is credited at the source, and follows', async (t) => {
  const { a, b, move } = await twoCells(t);
  const payer = randomBytes(20);
  const { accountId } = await admitIdentity(a.storage, { kind: 'wallet', address: payer });
  const sent = async () => {
    const payment = { chainId: 8_453, asset: Buffer.alloc(20, 1), payTo: Buffer.alloc(20, 2), amountU: 5n * USD };
    const authorization = { ...payment, payer, nonce: randomBytes(32) };
    const times = { validAfter: 0n, validBefore: BigInt(Math.floor(Date.now() / 1_000)) + 300n, fromBlock: 7n };
    const offered = { ...authorization, ...times, proof: {}, secretHash: null, isPublic: false };
    const reserved = await reserveDeposit(a.storage, offered);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await noteHanded(a.storage, reserved.id);
    return { id: reserved.id, ...authorization };
  };
  const [late, found] = [await sent(), await sent()];
  await move(accountId, a, b);
  const key = { hash: randomBytes(32), prefix: 'ep_k_12345' };
  const credited = await creditDeposit(a.storage, late.id, { txHash: randomBytes(32), key });
  t.same(credited, { accountId, isNewAccount: false });
  t.equal(await findKeyByHash(a.storage, key.hash), null, 'nor is a key made for it');
  const transfer = { ...found, txHash: randomBytes(32), logIndex: 0 };
  t.equal(await matchTransfer(a.storage, transfer), 'credited', 'by the scan too');
  t.match(await settleMoves(a.cell, b.cell), [{ accountId, amountU: 10n * USD }]);
  t.equal((await balanceOf(b.storage, accountId))!.postedU, 10n * USD);
  await clean(t, 'late deposits', a, b);
});

t.test('between `left` and `arrived` neither cell answers for the account', async (t) => {
  const { a, b, move } = await twoCells(t);
  const { accountId, hash, loginId, address } = await richAccount(a);
  await t.rejects(move(accountId, a, b, { stopAfter: 'left' }));
  for (const [{ storage }, elsewhere] of [
    [a, '1'],
    [b, '0'],
  ] as const) {
    const asked: Record<string, () => Promise<unknown>> = {
      'a key': async () => (await findKeyByHash(storage, hash)) ?? refuseMovedName(storage, nameOfKey(hash)),
      'a login': async () => (await findLogin(storage, loginId)) ?? refuseMovedLogin(storage, loginId),
      'an identity': () => admitIdentity(storage, { kind: 'wallet', address }),
    };
    for (const [name, ask] of Object.entries(asked)) await t.rejects(ask(), movingTo(elsewhere), name);
  }
  t.match(await admitPayer(b.storage, address), { accountId }, 'money that has come is its own');
  await move(accountId, a, b);
  t.match(await findKeyByHash(b.storage, hash), { accountId });
  t.match(await admitIdentity(b.storage, { kind: 'wallet', address }), { accountId, isNewAccount: false });
});

t.test('usage by metadata is whole after a move that was killed when it had left', async (t) => {
  const { a, b, move } = await twoCells(t);
  const { accountId } = await richAccount(a);
  await a.query(
    `
    with days as (select (now() at time zone 'utc')::date - back as day from generate_series(2, 3) back),
         names as (insert into usage_names (account_id, day, name, value_count) select $1, day, 'team', 1 from days)
    insert into usage_labels
    select (jsonb_populate_record(l, jsonb_build_object('day', days.day))).* from usage_labels l, days where l.account_id = $1`,
    [accountId],
  );
  const usage = ({ query }: TestCell) =>
    query('select day, name, value, polls, cost_u from usage_labels where account_id = $1 order by 1, 2, 3', [
      accountId,
    ]);
  const months = ({ query }: TestCell) =>
    query('select month, name, value, polls, cost_u from usage_label_months where account_id = $1 order by 1, 2, 3', [
      accountId,
    ]);
  await pruneExpired(a.storage);
  const before = [await usage(a), await months(a)];
  t.not(before[1]!.length, 0, 'some days are in the sums of their months');
  await t.rejects(move(accountId, a, b, { stopAfter: 'left' }));
  await pruneExpired(b.storage);
  await move(accountId, a, b).catch(() => {});
  await pruneExpired(b.storage);
  t.same([await usage(b), await months(b)], before);
  t.same(await b.query('select * from check_usage_months()'), []);
});

t.test(
  'a month that the target has dropped comes back with an account that has polls of it, and is dropped again',
  async (t) => {
    const { a, b, move } = await twoCells(t);
    const dropped = async () => (await dropMonths(b.storage)).map((step) => step.split(' ')[0]);
    await b.query("update months set ends_at = now() - interval '4 days' where name = 'first'");
    t.same(await dropped(), ['detached', 'dropped']);
    const rich = await richAccount(a);
    await expectAccount(b.cell.storage, rich.accountId, '0');
    await b.query("select restore_month(first_poll) from months where name = 'first'");
    t.same(await dropped(), [], 'polls of it may be on their way');
    const terms = { accountId: rich.accountId, from: a.cell, to: b.cell, drainS: 1, keepS: 1 };
    t.same(await problemsWithMove(terms), []);
    await move(rich.accountId, a, b);
    t.ok(await findResult(b.storage, rich.polls[0]!.resultId));
    t.equal((await listPolls(b.storage, rich.accountId, {}, { limit: 10 }))!.lines.length, 3);
    t.same(await dropped(), [], 'it has polls');
    t.match(await b.query("select polls_dropped_at from months where name = 'first'"), [{ polls_dropped_at: Date }]);
    await clean(t, 'there', a, b);

    await move(rich.accountId, b, a);
    await b.query("update accounts set keep_until = now() - interval '1 second' where moved_to is not null");
    await emptyClosedAccounts(b.storage);
    await b.query('delete from receipt_leaves');
    t.same(await dropped(), ['detached', 'dropped']);
    t.same(await b.query("select 1 from pg_class where relname = 'polls_first'"), []);
    await move(rich.accountId, a, b);
    t.ok(await findResult(b.storage, rich.polls[0]!.resultId), 'and once more');
    await clean(t, 'there again', a, b);
  },
);

t.test('what the books of two cells do not agree in is seen', async (t) => {
  const { a, b, move } = await twoCells(t);
  const accountId = await funded(a.storage, 5n * USD);
  await t.rejects(move(accountId, a, b, { stopAfter: 'left' }));
  t.match(await compareCells([a.cell, b.cell]), { leftU: 5n * USD, arrivedU: 0n, underWay: [/./] });
  t.same(await settleMoves(a.cell, b.cell), [], 'which finishes it');
  await clean(t, 'there', a, b);
  await b.query("update account_moves set amount_u = 1 where direction = 'in'");
  t.match(await checkLedger(b.storage), [{ rule: 'moves' }, { rule: 'move' }]);
  t.match(await compareCells([a.cell, b.cell]), { wrong: [/./] });
});

t.test('a move that its target has lost is not called under way, whatever it took along', async (t) => {
  const { a, b, move } = await twoCells(t);
  for (const amountU of [5n * USD, 0n]) {
    await move(await funded(a.storage, amountU), a, b);
    await b.query("delete from account_moves where direction = 'in'");
  }
  const { underWay, lost, wrong } = await compareCells([b.cell, a.cell]);
  t.same([underWay, lost.length, wrong], [[], 2, []]);
});

t.test('after a second move the first cell leads to where the account lives, and back', async (t) => {
  const { a, b, move } = await twoCells(t);
  const c = await openCell(t, '2');
  const cells = [a.cell, b.cell, c.cell];
  const { accountId, address } = await richAccount(a);
  const name = nameOfIdentity({ kind: 'wallet', address });
  await move(accountId, a, b);
  t.equal(await leadHome(cells), 0);
  await move(accountId, b, c);
  t.equal(await leadHome(cells), 1);
  for (const { storage } of [a, b]) await t.rejects(refuseMovedName(storage, name), movingTo('2'));
  await creditAccount(a.storage, { accountId, amountU: USD, source: 'operator', idem: unique('late:') });
  t.match(await settleMoves(a.cell, c.cell), [{ accountId, amountU: USD }], 'so does late money');
  t.match(await routerMaps(cells), { accounts: `${accountTag(accountId)} 2;\n` });
  await move(accountId, c, a);
  t.equal(await leadHome(cells), 1);
  await refuseMovedName(a.storage, name);
  for (const { storage } of [b, c]) await t.rejects(refuseMovedName(storage, name), movingTo('0'));
  t.match(await admitIdentity(a.storage, { kind: 'wallet', address }), { accountId });
  await clean(t, 'round', a, b, c);
});

t.test('a move is refused before anything is written', async (t) => {
  const { a, b } = await twoCells(t);
  const address = randomBytes(20);
  const { accountId } = await admitIdentity(a.storage, { kind: 'wallet', address });
  await admitIdentity(b.storage, { kind: 'wallet', address });
  const terms = { accountId, from: a.cell, to: b.cell, drainS: 1, keepS: 1 };
  t.match(await problemsWithMove(terms), [/its owner has account .* in cell 1/]);
  t.match(await problemsWithMove({ ...terms, accountId: randomUUID() }), [/no open account/]);
  t.match(await problemsWithMove({ ...terms, to: a.cell }), [/same name/, /has an account/]);
  await t.rejects(moveAccount(terms), MoveRefused);
  t.same(await a.query('select from account_moves'), []);
});

t.test('the source empties what it had when its time is over', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  await move(rich.accountId, a, b);
  t.same(await emptyClosedAccounts(a.storage), []);
  await a.query("update accounts set keep_until = now() - interval '1 second' where moved_to is not null");
  t.equal((await emptyClosedAccounts(a.storage)).length, 3);
  t.same(await a.query("select 1 from polls where spec ? 'question'"), []);
  await t.rejects(refuseMovedResult(a.storage, rich.polls[0]!.resultId), movingTo('1'), 'and still says where it is');
  await clean(t, 'emptied', a, b);
  await move(rich.accountId, b, a);
  t.ok(await findResult(a.storage, rich.polls[0]!.resultId), 'it may come back');
  await clean(t, 'back', a, b);
});
