import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import {
  acceptPoll,
  balanceOf,
  bury,
  checkLedger,
  claimPoll,
  type FinishedPoll,
  FREE_POOL,
  failuresByCaller,
  findResultOfPoll,
  finishPoll,
  readMoneyFigures,
} from '../src/index.ts';
import { acceptance, claimed, finished, funded, open, refused, response, together, USD, vote } from './fixtures.ts';

// slow: 6 s

const FREE = { atLeastU: 250_000n, sharePpm: 50_000 };

const three = (costU: number): Partial<FinishedPoll> => {
  const votes = [0, 1, 2].map((seat) => refused(seat, costU));
  const answers = votes.map((one) => ({
    ...{ model_id: one.model_id, success: false, chosen_option: null, transition: 'vote' as const },
    ...{ latency_ms: 1, estimated_cost: 0, error: one.error },
  }));
  const costs = { total_estimated_cost: 0 };
  return { votes, freeFailures: FREE, response: response({ status: 'failed', votes: answers, costs }) };
};

t.test(
  '[§A6-no-votes-no-bill] refusals are free up to the allowance of the day; then they cost what they did',
  async (t) => {
    const { storage, query } = await open(t);
    const accountId = await funded(storage, 5n * USD);
    for (let n = 0; n < 2; n++) await finishPoll(storage, finished(await claimed(storage, accountId), three(40_000)));
    t.match(await balanceOf(storage, accountId), { usageU: 0n }, '240,000 of 250,000 are free');

    const claim = await claimed(storage, accountId);
    const stored = await finishPoll(storage, finished(claim, three(40_000)));
    t.match(await balanceOf(storage, accountId), { usageU: 110_000n, heldU: 0n }, '10,000 more are');
    t.match(stored, {
      outcome: 'stored',
      response: { costs: { total_estimated_cost: 0.11, failed_calls_cost: 0.11 } },
      votes: [{ billed_u: 40_000 }, { billed_u: 40_000 }, { billed_u: 30_000 }],
    });
    t.match((await findResultOfPoll(storage, claim.id))?.detail, {
      votes: [{ estimated_cost: 0.04 }, { estimated_cost: 0.04 }, { estimated_cost: 0.03 }],
      costs: { total_estimated_cost: 0.11, failed_calls_cost: 0.11 },
    });
    t.match(
      await finishPoll(storage, finished(claim, three(40_000))),
      { response: { costs: { failed_calls_cost: 0.11 } } },
      'a repetition answers the same',
    );
    t.same(await failuresByCaller(storage, 5), [
      {
        caller: accountId,
        accountId,
        refusals: 9,
        otherFailures: 0,
        faultU: 360_000n,
        freeU: 250_000n,
        chargedU: 110_000n,
      },
    ]);
    t.same(await query('select sum(billed_u)::int as billed from votes'), [{ billed: 110_000 }]);
    t.same(await checkLedger(storage), []);
  },
);

t.test('the allowance is 5 % of what was captured in 24 hours where that is more', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 100n * USD);
  for (let n = 0; n < 8; n++) {
    const votes = [vote(0, { billed_u: 1_000_000 })];
    await finishPoll(storage, finished(await claimed(storage, accountId), { votes }));
  }
  await finishPoll(storage, finished(await claimed(storage, accountId), three(150_000)));
  t.match(await balanceOf(storage, accountId), { usageU: 8_050_000n }, '400,000 of 450,000 were free');

  await query('update balances set used_on = used_on - 1 where used_on is not null');
  await query('update caller_days set day = day - 1');
  await finishPoll(storage, finished(await claimed(storage, accountId), three(90_000)));
  const [row] = await query<{ free: number }>(
    'select max(free_u)::int as free from caller_days where day = current_date',
  );
  t.ok(
    row!.free >= 250_000 && row!.free <= 270_000,
    `yesterday counts for what of it is within 24 hours: ${row!.free}`,
  );

  await query('update balances set used_on = used_on - 2 where used_on is not null');
  await query('update caller_days set day = day - 1');
  await finishPoll(storage, finished(await claimed(storage, accountId), three(90_000)));
  t.same(await query('select max(free_u)::int as free from caller_days where day = current_date'), [{ free: 250_000 }]);
  t.same(await checkLedger(storage), []);
});

t.test(
  'a poll that ends after midnight in a transaction from before it leaves the sums of the new day as they are',
  async (t) => {
    const { storage, query } = await open(t);
    const accountId = await funded(storage, 100n * USD);
    const ending = await claimed(storage, accountId);
    await finishPoll(
      storage,
      finished(await claimed(storage, accountId), { votes: [vote(0, { billed_u: 1_000_000 })] }),
    );
    // As if the other one had begun after midnight and was counted first.
    await query('update balances set used_on = used_on + 1, used_today_u = 8 * used_today_u where account_id = $1', [
      accountId,
    ]);
    await finishPoll(storage, finished(ending, three(150_000)));
    t.match(await balanceOf(storage, accountId), { usageU: 1_050_000n }, '400,000 of 450,000 were free');
    t.same(
      await query(
        `select used_on = (now() at time zone 'utc')::date + 1 as is_next, used_today_u::int as today, used_yesterday_u::int as yesterday
         from balances where account_id = $1`,
        [accountId],
      ),
      [{ is_next: true, today: 8_050_000, yesterday: 0 }],
    );
  },
);

t.test('failures of the line are never charged, whatever they cost', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 5n * USD);
  const late = vote(0, {
    option: null,
    error: 'timeout',
    billed_u: 0,
    cost: { estimated_u: 500_000, max_u: 900_000, fault_u: 0 },
  });
  for (let n = 0; n < 3; n++)
    await finishPoll(storage, finished(await claimed(storage, accountId), { votes: [late], freeFailures: FREE }));
  t.match(await balanceOf(storage, accountId), { usageU: 0n });
  t.same(await failuresByCaller(storage, 5), []);
});

t.test('the worst caller is one whose questions fail beyond what is usual, not one who asks much', async (t) => {
  const { storage, query } = await open(t);
  const [busy, bad, small] = [await funded(storage, USD), await funded(storage, USD), await funded(storage, USD)];
  const today = async (accountId: string, polls: number, costU: number, refusals: number, unpaidU: number) => {
    await query(
      `insert into usage_days (account_id, day, key_id, preset, surface, polls, completed, failed, canceled, split_or_partial,
                               cost_u, saved_u, ms_counts, cost_counts)
       select $1, (now() at time zone 'utc')::date, gen_random_uuid(), 'broad', 'rest', $2 / 2, 0, 0, 0, 0, $3 / 2, 0, 0, 0
         from generate_series(1, 2)`,
      [accountId, polls, costU],
    );
    await query('select note_failures($1::uuid::text, $1::uuid, $2, 7, $3, 0, 0)', [accountId, refusals, unpaidU]);
  };
  await today(busy, 30_000, 90_000_000, 14_000, 4_400_000);
  t.match(await readMoneyFigures(storage), { worstCaller: { refusals: 0, otherFailures: 0, unpaidU: 0n } });
  await today(small, 10, 0, 90, 2_000);
  t.match(await readMoneyFigures(storage), { worstCaller: { refusals: 0 } }, 'little is not looked at');
  await today(bad, 200, 1_000_000, 1_400, 1_500_000);
  t.match(await readMoneyFigures(storage), { worstCaller: { refusals: 1_300, unpaidU: 1_450_000n } });
  await query('select note_failures($1, null, 3000, 2000, 0, 0, 0)', ['a-network']);
  t.match(
    await readMoneyFigures(storage),
    { worstCaller: { refusals: 3_000, otherFailures: 2_000, unpaidU: 1_450_000n } },
    'a network has no polls that were paid',
  );
});

t.test('a hundred finishes at once give away the allowance once, and charge within their holds', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 16 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ faultU: fc.nat(60_000), billU: fc.nat(9_000), holdU: fc.integer({ min: 10_000, max: 70_000 }) }),
        {
          minLength: 30,
          maxLength: 60,
        },
      ),
      async (polls) => {
        const accountId = await funded(storage, 100n * USD);
        const claims = await together(polls.length, 8, (n) =>
          claimed(storage, accountId, { holdU: BigInt(polls[n]!.holdU) }),
        );
        await together(polls.length, 16, (n) => {
          const votes = [vote(0, { billed_u: polls[n]!.billU, cost: zero }), refused(1, polls[n]!.faultU)];
          return finishPoll(storage, finished(claims[n]!, { votes, freeFailures: FREE }));
        });
        const [day] = await query<{ free: number; charged: number; fault: number }>(
          `select free_u::int as free, charged_u::int as charged, fault_u::int as fault from caller_days where caller = $1`,
          [accountId],
        );
        const faultU = polls.reduce((sum, poll) => sum + poll.faultU, 0);
        const billU = polls.reduce((sum, poll) => sum + poll.billU, 0);
        const beyondU = polls.reduce((sum, { faultU, billU, holdU }) => sum + Math.max(0, faultU - (holdU - billU)), 0);
        const used = Number((await balanceOf(storage, accountId))!.usageU);
        return (
          (day?.fault ?? 0) === faultU &&
          (day?.free ?? 0) + (day?.charged ?? 0) === faultU &&
          // What exceeds its own hold cannot be charged; nothing else is given away.
          (day?.free ?? 0) <= 250_000 + beyondU &&
          used === billU + (day?.charged ?? 0)
        );
      },
    ),
    { numRuns: 5 },
  );
  const over =
    await query(`select h.poll_id from transfers h join transfers p on p.pending_id = h.id and p.kind = 'post'
                             where p.amount_u > h.amount_u`);
  t.same(over, []);
  t.same(await checkLedger(storage), []);
});

const zero = { estimated_u: 0, max_u: 0, fault_u: 0 };
const CAP = { free: { dailyCapU: 1_000_000n }, holdU: 10_000n };

t.test('the free pool pays for failed, aborted and lost calls, at most the hold', async (t) => {
  const { storage, query } = await open(t);
  const usedU = async () => (await balanceOf(storage, FREE_POOL))!.usageU;
  const votes = [
    vote(0, { billed_u: 500, cost: { estimated_u: 300, max_u: 300, fault_u: 0 } }),
    refused(1, 2_000),
    vote(2, { option: null, error: 'timeout', billed_u: 0, cost: { estimated_u: 50, max_u: 1_500, fault_u: 0 } }),
  ];
  const aborted = [{ seat: 3, model_id: 'sim/m3', calls: 1, estimated_u: 70, max_u: 900 }];
  const claim = await claimed(storage, null, CAP);
  t.match(await finishPoll(storage, finished(claim, { votes, aborted, freeFailures: FREE })), {
    votes: [{ billed_u: 300 }, { billed_u: 2_000 }, { billed_u: 1_500 }],
    unvotedU: 900,
  });
  t.equal(await usedU(), 4_700n);
  t.match(await query('select provider_cost_u, aborted_calls, aborted_cost_u, unvoted_u from polls'), [
    { provider_cost_u: '2420', aborted_calls: 1, aborted_cost_u: '70', unvoted_u: '900' },
  ]);

  const lost = await claimed(storage, null, { ...CAP, providerMaxU: 9_000 });
  await query("update polls set lease_until = now() - interval '1 second' where id = $1", [lost.id]);
  const second = (await claimPoll(storage, lost.id, 'another worker'))!;
  await finishPoll(storage, finished(second, { votes }));
  t.equal(await usedU(), 14_700n, 'the first worker may have spent what it could, up to the hold');
  t.same(await checkLedger(storage), []);
});

t.test(
  'a provider dearer than its price list costs the pool more than the hold, as long as it has anything',
  async (t) => {
    const { storage } = await open(t);
    const pool = async () => (await balanceOf(storage, FREE_POOL))!;
    await finishPoll(storage, finished(await claimed(storage, null, CAP), { votes: [refused(0, 400_000)] }));
    t.match(await pool(), { usageU: 400_000n, heldU: 0n });
    await finishPoll(storage, finished(await claimed(storage, null, CAP), { votes: [refused(0, 900_000)] }));
    t.match(await pool(), { usageU: 1_000_000n, availableU: 0n });
    t.match(await acceptPoll(storage, acceptance(null, CAP)), { kind: 'insufficient' });
    t.same(await checkLedger(storage), []);
  },
);

t.test('a free poll that is given up costs the pool what its lost workers may have spent', async (t) => {
  const { storage, query } = await open(t);
  const request = acceptance(null, { ...CAP, providerMaxU: 4_000 });
  await acceptPoll(storage, request);
  await claimPoll(storage, request.poll.id, 'worker');
  await query("update polls set lease_until = now() - interval '1 second'");
  const { id, epoch } = (await claimPoll(storage, request.poll.id, 'another worker'))!;
  await bury(storage, { id, epoch, reason: 'poison' });
  t.match(await balanceOf(storage, FREE_POOL), { usageU: 4_000n, heldU: 0n });
  t.same(await checkLedger(storage), []);
});
