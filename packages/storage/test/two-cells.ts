import { randomBytes } from 'node:crypto';
import { ownerUrl } from '@eloquentpoll/testkit/database';
import type { Test } from 'tap';
import {
  acceptPoll,
  admitIdentity,
  balanceOf,
  type CellDatabase,
  checkLedger,
  claimPoll,
  compareCells,
  createAccount,
  creditAccount,
  findCheckout,
  findResult,
  finishPoll,
  followCheckout,
  insertKey,
  insertLogin,
  insertWebhookEndpoint,
  listKeys,
  listSavedPanels,
  listWebhookEndpoints,
  type MoveStep,
  moveAccount,
  openCheckout,
  openStorage,
  publishCheckout,
  readHistory,
  savePanel,
  storeFeedback,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  finished,
  GENEROUS,
  newPoll,
  open,
  response,
  USD,
  unique,
  vote,
} from './fixtures.ts';
import { wholeCheck } from './whole-check.ts';

// Two cells, each with a database of its own, and an account that moves between them.

export const RULES = { days: 7, share: 0.5, freeU: 0n };

export interface TestCell extends Fixture {
  /** With the owner's role, as the command has it. */
  cell: CellDatabase;
}

export async function openCell(t: Test, name: string): Promise<TestCell> {
  const fixture = await open(t);
  const storage = openStorage({ databaseUrl: ownerUrl(fixture.url), maxConnections: 2, ...GENEROUS });
  t.teardown(() => storage[Symbol.asyncDispose]());
  return { ...fixture, cell: { name, storage } };
}

export async function twoCells(t: Test) {
  const [a, b] = [await openCell(t, '0'), await openCell(t, '1')];
  const move = (
    accountId: string,
    from: TestCell,
    to: TestCell,
    more: { stopAfter?: MoveStep; drainS?: number } = {},
  ) =>
    moveAccount(
      { accountId, from: from.cell, to: to.cell, drainS: more.drainS ?? 5, keepS: 3_600, cachedS: 0 },
      (step) => {
        if (step === more.stopAfter) throw new Error(`killed after ${step}`);
      },
    );
  return { a, b, move };
}

/** An account with something in every table that goes along. */
export async function richAccount({ storage, query }: Fixture) {
  const address = randomBytes(20);
  const { accountId, identityId } = await admitIdentity(storage, { kind: 'wallet', address });
  await creditAccount(storage, { accountId, amountU: 10n * USD, source: 'operator', idem: unique('grant:') });
  const hash = randomBytes(32);
  const { id: keyId } = await storage.db
    .transaction()
    .execute((db) =>
      insertKey({ db }, { accountId, hash, prefix: 'ep_k_12345', limit: { limitU: 5n * USD, reset: 'monthly' } }),
    );
  const loginId = await insertLogin(storage, { accountId, identityId });
  await savePanel(storage, accountId, { name: 'mine', models: ['a/1', 'b/2', 'c/3'] });
  const endpoint = { id: `we_${randomBytes(16).toString('hex')}`, url: 'https://hooks.example/', description: '' };
  await insertWebhookEndpoint(storage, accountId, { ...endpoint, eventTypes: ['poll.completed'], secret: 'sealed' });
  const checkout = await openCheckout(storage, { accountId, amountCents: 800 });
  const processorId = unique('cs_');
  await publishCheckout(storage, checkout, { processorId, url: 'https://pay.example', livemode: false });
  await followCheckout(
    storage,
    (await findCheckout(storage, { id: checkout }))!,
    { processorId, paymentIntent: processorId, livemode: false, isPaid: true, isExpired: false, reversedCents: 0 },
    RULES,
  );
  const polls: { id: string; resultId: string }[] = [];
  for (let i = 0; i < 3; i++) polls.push(await endedPoll({ storage }, accountId, keyId, `key ${i}`));
  await storeFeedback(storage, {
    ...{ accountId, resultId: polls[0]!.resultId, outcomeCorrect: true },
    ...{ confidence: 0.5, notes: 'good' },
  });
  const stranger = await createAccount(storage);
  await storeFeedback(storage, {
    ...{ accountId: stranger, resultId: polls[0]!.resultId, outcomeCorrect: false },
    ...{ confidence: null, notes: null },
  });
  await query("update results set receipt_leaf = sha256(convert_to(poll_id, 'UTF8'))");
  return { accountId, identityId, address, hash, keyId, loginId, polls, endpoint: endpoint.id, checkout };
}

export async function endedPoll(
  { storage }: Pick<Fixture, 'storage'>,
  accountId: string,
  keyId?: string,
  key?: string,
) {
  const poll = newPoll(accountId, { metadata: { team: 'red' }, ...(keyId && { keyId }) });
  const idempotency = key === undefined ? undefined : { principal: accountId, key, fingerprint: 'same' };
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: USD / 2n, idempotency }));
  const claim = await claimPoll(storage, poll.id, 'w');
  const billed = [vote(0, { billed_u: 70_001 }), vote(1, { billed_u: 3 })];
  const detail = response({ poll_id: poll.resultId, costs: { total_estimated_cost: 0.070004 } });
  await finishPoll(storage, finished(claim!, { votes: billed, response: detail }));
  return poll;
}

/** Everything that its owner can see of an account. */
export async function seen(
  { storage, query }: Fixture,
  { accountId, polls }: { accountId: string; polls: { resultId: string }[] },
) {
  return {
    balance: await balanceOf(storage, accountId),
    keys: await listKeys(storage, accountId),
    panels: await listSavedPanels(storage, accountId),
    endpoints: await listWebhookEndpoints(storage, accountId),
    history: await readHistory(storage, accountId, 100, 0),
    results: await Promise.all(polls.map(({ resultId }) => findResult(storage, resultId))),
    usage: await query('select * from usage_days where account_id = $1 order by day, preset', [accountId]),
    labels: await query('select * from poll_labels where account_id = $1 order by poll_id', [accountId]),
    keys_kept: await query('select * from idempotency where principal = $1 order by key', [accountId]),
    votes: await query(
      'select v.* from votes v join polls p on p.id = v.poll_id where p.account_id = $1 order by 1, 2',
      [accountId],
    ),
    feedback: await query('select outcome_correct, notes from feedback order by notes'),
  };
}

export async function clean(t: Test, name: string, ...cells: TestCell[]): Promise<void> {
  for (const { storage, cell } of cells) {
    t.same(await checkLedger(storage), [], `${name}: the books of cell ${cell.name}`);
    t.same(await wholeCheck(storage), [], `${name}: all books of cell ${cell.name}`);
  }
  const compared = await compareCells(cells.map(({ cell }) => cell));
  t.same(
    [compared.leftU - compared.arrivedU, compared.underWay, compared.lost, compared.wrong],
    [0n, [], [], []],
    `${name}: drift`,
  );
}
