import t from 'tap';
import {
  acceptPoll,
  balanceOf,
  cancelPoll,
  checkLedger,
  claimPoll,
  findPoll,
  findResultOfPoll,
  finishPoll,
  forgetPollKey,
  LEASE_MS,
  readHistory,
  renewLeases,
  wasCanceled,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, response, USD, unique } from './fixtures.ts';

const { storage, query } = await open(t);
const accountId = await funded(storage, 10n * USD);

async function accepted(key?: string): Promise<string> {
  const poll = newPoll(accountId, { tenant: accountId });
  const idempotency = key === undefined ? undefined : { principal: accountId, key, fingerprint: 'f' };
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n, idempotency }));
  return poll.id;
}
const cancel = (id: string) => cancelPoll(storage, accountId, id);
const available = async (): Promise<bigint> => (await balanceOf(storage, accountId))!.availableU;

t.test('a poll that no worker has ends at once, and its hold is released', async (t) => {
  const before = await available();
  const id = await accepted('canceled');
  t.equal(await available(), before - 10_000n);
  const outcomes = (await Promise.all([cancel(id), cancel(id), cancel(id)])).map((canceled) => canceled?.outcome);
  t.same(outcomes.toSorted(), ['ended', 'ended', 'ended_now']);
  t.equal(await available(), before);
  t.match(await findPoll(storage, id), { status: 'failed' });
  t.equal(await findResultOfPoll(storage, id), null);
  t.equal(await claimPoll(storage, id, 'w'), null);
  t.ok(await wasCanceled(storage, id));

  await forgetPollKey(storage, { principal: accountId, entryPoint: 'rest', key: 'canceled' }, id);
  const retried = newPoll(accountId, { tenant: accountId });
  const idempotency = { principal: accountId, key: 'canceled', fingerprint: 'f' };
  t.match(
    await acceptPoll(storage, acceptance(accountId, { poll: retried, holdU: 10_000n, idempotency })),
    { kind: 'joined', pollId: id },
    'a retry of its request does not bring it back',
  );
});

t.test('what providers may charge for it is set aside no longer', async (t) => {
  const poll = newPoll(accountId, { tenant: accountId });
  const ceiling = { hourU: 1_000_000n, dayU: 1_000_000n };
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n, providerMaxU: 700, ceiling }));
  const spend = () =>
    query('select sum(hour_u + day_u)::int as spent, sum(hour_held_u + day_held_u)::int as held from provider_spend');
  t.same(await spend(), [{ spent: 1_400, held: 1_400 }]);
  await cancel(poll.id);
  t.same(await spend(), [{ spent: 0, held: 0 }]);
});

t.test('of others, and of nothing, it is nothing', async (t) => {
  const other = await funded(storage, USD);
  const id = await accepted();
  t.equal(await cancelPoll(storage, other, id), null);
  t.equal(await cancel(unique('ps_')), null);
  t.match(await findPoll(storage, id), { status: 'running' });
  t.match(await cancel(id), { outcome: 'ended_now' });
});

t.test('one that a worker has is left to it; without a living one, any may claim it', async (t) => {
  const id = await accepted();
  const first = await claimPoll(storage, id, 'w1');
  t.match(await cancel(id), { outcome: 'ending', epoch: 1, isHeld: true });
  t.same(await renewLeases(storage, 'w1', [first!, { id: unique('ps_'), epoch: 1 }]), [
    { id, isCanceled: true, leftMs: LEASE_MS },
  ]);
  t.match(await finishPoll(storage, finished(first!)), { outcome: 'stored' });
  t.same(await renewLeases(storage, 'w1', [first!]), []);

  const orphan = await accepted();
  await claimPoll(storage, orphan, 'w1', 0);
  t.match(await cancel(orphan), { outcome: 'ending', epoch: 1, isHeld: false });
  const second = await claimPoll(storage, orphan, 'w2');
  t.match(second, { epoch: 2, isCanceled: true, remainingMs: 0 });
  const isCanceled = true;
  const cut = response({ termination_reason: null });
  t.match(await finishPoll(storage, finished(second!, { response: cut, isCanceled })), { outcome: 'stored' });
  t.match(await findResultOfPoll(storage, orphan), { detail: { canceled: undefined }, isCanceled });
  t.match(await readHistory(storage, accountId, 1, 0), [{ isCanceled }]);

  const overdue = await accepted();
  const overdueHeld = await claimPoll(storage, overdue, 'w1');
  t.match(await finishPoll(storage, finished(overdueHeld!, { response: cut })), { outcome: 'stored' });
  t.match(await findResultOfPoll(storage, overdue), { isCanceled: false }, 'no caller canceled it');

  const late = await accepted();
  const held = await claimPoll(storage, late, 'w1');
  t.match(await finishPoll(storage, finished(held!, { isCanceled })), { outcome: 'stored' });
  t.match(await findResultOfPoll(storage, late), { isCanceled: false }, 'its rule had ended it');
  t.match(await readHistory(storage, accountId, 1, 0), [{ isCanceled: false }]);
});

t.test('cancel races claim and finish: each poll ends once, and the books are true', async (t) => {
  for (let round = 0; round < 12; round++) {
    const queued = await accepted();
    const [canceled, claim] = await Promise.all([cancel(queued), claimPoll(storage, queued, 'w')]);
    t.equal(canceled?.outcome, claim ? 'ending' : 'ended_now');
    if (claim) t.match(await finishPoll(storage, finished(claim)), { outcome: 'stored' });

    const running = await accepted();
    const held = await claimPoll(storage, running, 'w');
    const before = await available();
    const [late, finish] = await Promise.all([cancel(running), finishPoll(storage, finished(held!)), cancel(running)]);
    t.match(late?.outcome, /^ending$|^ended$/);
    t.equal(finish.outcome, 'stored');
    t.match(await cancel(running), { outcome: 'ended' });
    const billedU = BigInt(finished(held!).votes.reduce((sum, { billed_u }) => sum + billed_u, 0));
    t.equal(await available(), before + 10_000n - billedU);
  }
  t.same(await checkLedger(storage), []);
  t.equal((await balanceOf(storage, accountId))!.heldU, 0n);
});
