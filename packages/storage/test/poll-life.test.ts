import fc from '@eloquentpoll/testkit/fast-check';
import { seed } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import {
  acceptPoll,
  balanceOf,
  bury,
  type Claim,
  cancelPoll,
  checkLedger,
  claimOverdue,
  claimPoll,
  FREE_POOL,
  findOverdue,
  finishPoll,
  type Lease,
  releaseLease,
  renewLeases,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, newPoll, open, response, vote } from './fixtures.ts';

// Whole lives of polls, lived by many hands at once that crash, come back as zombies, repeat themselves and race for
// idempotency keys. Whatever happens: each poll ends once, one key is one poll, and the books are true.

type Step =
  | { do: 'ask'; account: number; holdU: number; key: number | null; free: boolean }
  | { do: 'claim'; back: number }
  | { do: 'finish' | 'repeat'; back: number; billedU: number; votes: number }
  | { do: 'bury' | 'release' | 'renew' | 'lapse' | 'overdue' | 'cancel'; back: number };

const back = fc.nat(20);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      account: fc.nat(2),
      holdU: fc.integer({ min: 0, max: 20_000 }),
      key: fc.option(fc.nat(60)),
      free: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const), back }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('finish' as const, 'repeat' as const),
      back,
      billedU: fc.nat(2_000),
      votes: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'bury' as const,
        'release' as const,
        'renew' as const,
        'lapse' as const,
        'overdue' as const,
        'cancel' as const,
      ),
      back,
    }),
  },
);

class World {
  readonly polls: string[] = [];
  readonly claims: Claim[] = [];
  readonly ends = new Map<string, Set<number>>();
  readonly keys = new Map<string, Set<string>>();
  readonly fixture: Fixture;
  readonly accounts: string[];

  constructor(fixture: Fixture, accounts: string[]) {
    this.fixture = fixture;
    this.accounts = accounts;
  }

  noteEnd(claim: Lease) {
    const epochs = this.ends.get(claim.id) ?? new Set();
    this.ends.set(claim.id, epochs.add(claim.epoch));
  }
}

const newest = <T>(list: readonly T[], steps: number): T | undefined => list[Math.max(0, list.length - 1 - steps)];

async function live(world: World, worker: string, action: Step): Promise<void> {
  const { storage, query } = world.fixture;
  if (action.do === 'ask') {
    const accountId = world.accounts[action.account]!;
    const idempotency =
      action.key === null ? undefined : { principal: accountId, key: `key ${action.key}`, fingerprint: 'body' };
    const poll = newPoll(action.free ? null : accountId);
    const free = action.free ? { dailyCapU: 400_000n } : undefined;
    const answer = await acceptPoll(
      storage,
      acceptance(accountId, { poll, holdU: BigInt(action.holdU), idempotency, free }),
    );
    if (answer.kind === 'accepted') world.polls.push(answer.pollId);
    if (idempotency && (answer.kind === 'accepted' || answer.kind === 'joined')) {
      const name = `${accountId} ${idempotency.key}`;
      world.keys.set(name, (world.keys.get(name) ?? new Set()).add(answer.pollId));
    }
    return;
  }
  if (action.do === 'claim' || action.do === 'lapse' || action.do === 'overdue') {
    const pollId = newest(world.polls, action.back);
    if (pollId === undefined) return;
    if (action.do === 'lapse')
      await query(`update polls set lease_until = now() - interval '1 second' where id = $1`, [pollId]);
    if (action.do === 'overdue')
      await query(`update polls set deadline_at = now() - interval '1 second' where id = $1`, [pollId]);
    const claim = await (action.do === 'overdue' ? claimOverdue : claimPoll)(storage, pollId, worker);
    if (claim) world.claims.push(claim);
    return;
  }
  if (action.do === 'cancel') {
    const pollId = newest(world.polls, action.back);
    if (pollId === undefined) return;
    for (const accountId of world.accounts) {
      const canceled = await cancelPoll(storage, accountId, pollId);
      if (canceled?.outcome === 'ended_now') world.noteEnd({ id: pollId, epoch: 0 });
    }
    return;
  }
  // Any hand may act on any claim, also on one that was taken over long ago: these are the zombies.
  const claim = newest(world.claims, action.back);
  if (!claim) return;
  switch (action.do) {
    case 'release':
      await releaseLease(storage, claim);
      return;
    case 'renew':
      await renewLeases(storage, worker, [claim]);
      return;
    case 'bury':
      if ((await bury(storage, { ...claim, reason: 'tired' })) === 'stored') world.noteEnd(claim);
      return;
    case 'finish':
    case 'repeat': {
      const votes = Array.from({ length: action.votes }, (_, seat) =>
        vote(seat, { billed_u: Math.floor(action.billedU / 5) }),
      );
      const poll = finished(claim, { votes });
      const again = action.do === 'repeat' ? 2 : 1;
      for (let time = 0; time < again; time++) {
        // A bill beyond the hold is refused; then the poll runs on and another claim ends it.
        const answer = await finishPoll(storage, poll).catch((error: { code?: string }) => {
          if (error.code !== 'EP003') throw error;
          return 'refused' as const;
        });
        if (answer !== 'refused' && answer.outcome === 'stored') world.noteEnd(claim);
      }
    }
  }
}

t.test('[§3.2-terminal] lives of polls in many hands', async (t) => {
  const HANDS = 6;
  t.comment(`seed ${seed}`);
  const fixture = await open(t, { maxConnections: HANDS });
  const { storage, query } = fixture;
  const world = new World(fixture, []);
  for (let index = 0; index < 3; index++) world.accounts.push(await funded(storage, 2_000_000n));

  const hand = fc.array(step, { minLength: 350, maxLength: 350 });
  const [hands] = fc.sample(fc.array(hand, { minLength: HANDS, maxLength: HANDS }), { seed, numRuns: 1 });
  await Promise.all(
    hands!.map(async (steps, index) => {
      for (const action of steps) {
        await live(world, `worker ${index}`, action);
        for (const account of [world.accounts[0]!, FREE_POOL])
          if (index === 0 && (await balanceOf(storage, account))!.availableU < 0n) t.fail('available is negative');
      }
    }),
  );
  t.same(await checkLedger(storage), [], 'in the middle of everything');
  t.ok(world.polls.length > 100 && world.ends.size > 50, `${world.polls.length} polls, ${world.ends.size} ended`);

  await query("update polls set deadline_at = now() - interval '1 second' where status = 'running'");
  for (const { id } of await findOverdue(storage, 10_000)) {
    const claim = await claimOverdue(storage, id, 'sweeper');
    t.match(await finishPoll(storage, finished(claim!, { votes: [], response: response({ status: 'failed' }) })), {
      outcome: 'stored',
    });
    world.noteEnd(claim!);
  }
  t.same(await checkLedger(storage), []);
  t.equal(world.ends.size, world.polls.length, 'every accepted poll has ended');
  for (const [id, epochs] of world.ends) if (epochs.size !== 1) t.fail(`${id} ended under ${epochs.size} claims`);
  for (const [key, polls] of world.keys) if (polls.size !== 1) t.fail(`${key} stands for ${polls.size} polls`);
  t.same(
    await query(`select count(*)::int as polls, count(*) filter (where status = 'running')::int as running from polls`),
    [{ polls: world.polls.length, running: 0 }],
  );
  for (const accountId of [...world.accounts, FREE_POOL])
    t.equal((await balanceOf(storage, accountId))?.heldU, 0n, 'nothing stays held');
  const [free] = await query<{ spent: number }>(
    `select coalesce(sum(amount_u), 0)::int as spent from transfers where kind = 'post' and debit = '${FREE_POOL}'`,
  );
  t.ok(free!.spent <= 400_000, `free polls spent ${free!.spent}`);
});
