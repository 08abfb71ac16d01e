import { deepStrictEqual } from 'node:assert/strict';
import { inspect } from 'node:util';
import type { PollResponse, PollSpec, Vote } from '@eloquentpoll/contracts';
import { pollIdsOfMonth } from '@eloquentpoll/polls';
import {
  acceptPoll,
  balanceOf,
  checkLedger,
  createAccount,
  creditAccount,
  StorageRefused,
} from '@eloquentpoll/storage';
import fc from '@eloquentpoll/testkit/fast-check';
import { storedPolls } from '@eloquentpoll/worker/stored-polls';
import t from 'tap';
import { Refused } from '../src/simulate/world/model-ledger.ts';
import { type ModelStore, modelStore } from '../src/simulate/world/model-store.ts';
import { type FrozenDatabase, frozenDatabase } from './frozen-database.ts';

// slow: 3 s

// The store of the simulation is held to Postgres: both get the same commands at the same moments and must give the
// same answers, refusals included, and be left with the same rows and balances.

const BEGIN = Date.UTC(2026, 0, 1);
const POLLS = 4;
const SPEC: PollSpec = {
  question: 'Which?',
  options: ['A', 'B'],
  panel_name: 'broad',
  confidence_threshold: 1,
  max_cost_u: 1_000_000,
  min_votes: 3,
  search: false,
  seed: 's',
  seats: [0, 1, 2].map((i) => ({ model_id: `m${i}`, family: `f${i}`, reserve_u: 10, failure_rate: 0, p90_ms: 9 })),
  simulated: true,
};

/** Polls and epochs as the commands name them: the n-th poll, so many epochs before the newest. */
type Command =
  | { do: 'accept'; poll: number; key: number | null; fingerprint: string; holdU: bigint; deadlineMs: number }
  | { do: 'claim' | 'claimOverdue'; poll: number; worker: string }
  | { do: 'renew'; worker: string; polls: { poll: number; back: number }[] }
  | { do: 'release' | 'bury'; poll: number; back: number }
  | { do: 'finish'; poll: number; back: number; votes: Vote[] }
  | { do: 'findLapsed' | 'findOverdue' }
  | { do: 'pass'; ms: number };

const poll = fc.nat(POLLS - 1);
const back = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) });
const worker = fc.constantFrom('w1', 'w2');
/** Around every limit that the store knows: the first claim, a lease, a lease of an overdue poll, deadlines, grace. */
const ms = fc.constantFrom(1, 1_000, 4_999, 5_000, 5_001, 7_999, 8_000, 8_001, 25_000);
const vote = fc
  .record({ seat: fc.nat(2), option: fc.option(fc.nat(1)), billed_u: fc.constantFrom(0, 1, 700, 2_000) })
  .map(
    ({ seat, option, billed_u }): Vote => ({
      seat,
      model_id: `m${seat}`,
      option,
      error: option === null ? 'refusal' : null,
      latency_ms: 5,
      billed_u,
      provider_cost_u: null,
      labels: [],
      calls: 1,
      searched: false,
    }),
  );
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      poll,
      key: fc.option(fc.nat(2)),
      fingerprint: fc.constantFrom('a', 'a', 'a', 'b'),
      holdU: fc.bigInt({ min: 0n, max: 4_000n }),
      deadlineMs: fc.constantFrom(1, 5_000, 20_000),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('claim' as const, 'claimOverdue' as const), poll, worker }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      worker,
      polls: fc.uniqueArray(fc.record({ poll, back }), { maxLength: 3, selector: (each) => each.poll }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'bury' as const), poll, back }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      poll,
      back,
      votes: fc.array(vote, { maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('findLapsed' as const, 'findOverdue' as const) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), ms }) },
);

interface Sides {
  readonly real: FrozenDatabase;
  readonly model: ModelStore;
  readonly accountId: string;
  readonly run: number;
  now: number;
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
const MONTH = pollIdsOfMonth(new Date());
const idOf = (side: Sides, n: number) => `${MONTH}${side.run}_${n}`;

async function perform(sides: Sides, command: Command): Promise<[real: unknown, model: unknown]> {
  const { real, model } = sides;
  const store = storedPolls(real.storage);
  const both = async (ours: () => Promise<unknown>, theirs: () => unknown): Promise<[unknown, unknown]> => [
    await ours().catch((error) => (error instanceof StorageRefused ? 'refused' : Promise.reject(error))),
    answerOf(theirs),
  ];
  const lease = (n: number, epochsBack: number) => {
    const id = idOf(sides, n);
    return { id, epoch: (model.polls.get(id)?.leaseEpoch ?? 0) - epochsBack };
  };
  switch (command.do) {
    case 'accept': {
      const { key, fingerprint, holdU, deadlineMs } = command;
      const id = idOf(sides, command.poll);
      const acceptance = {
        poll: { id, resultId: `EP-${id}`, accountId: sides.accountId, spec: SPEC, deadlineMs, entryPoint: 'test' },
        holdU,
        ...(key !== null && {
          idempotency: { principal: `run ${sides.run}`, key: String(key), fingerprint },
        }),
      };
      return both(
        () => acceptPoll(real.storage, acceptance),
        () => model.accept(acceptance),
      );
    }
    case 'claim': {
      const args = [idOf(sides, command.poll), command.worker] as const;
      return both(
        () => store.claim(...args),
        () => model.claim(...args),
      );
    }
    case 'claimOverdue': {
      const args = [idOf(sides, command.poll), command.worker, 5_000] as const;
      return both(
        () => store.claimOverdue(...args),
        () => model.claimOverdue(...args),
      );
    }
    case 'renew': {
      const leases = command.polls.map((each) => lease(each.poll, each.back));
      return both(
        async () => (await store.renew(command.worker, leases)).toSorted(byId),
        () => model.renew(command.worker, leases).toSorted(byId),
      );
    }
    case 'release': {
      const held = lease(command.poll, command.back);
      return both(
        () => store.release(held),
        () => model.release(held),
      );
    }
    case 'bury': {
      const given = { ...lease(command.poll, command.back), reason: 'test' };
      return both(
        () => store.bury(given),
        () => model.bury(given),
      );
    }
    case 'finish': {
      const finished = {
        ...lease(command.poll, command.back),
        votes: command.votes,
        response: { ...RESPONSE, confidence: command.votes.length / 10 },
        lane: 'standard' as const,
      };
      return both(
        () => store.finish(finished),
        () => model.finish(finished),
      );
    }
    case 'findLapsed':
    case 'findOverdue': {
      const sorted = (leases: readonly { id: string; epoch: number }[]) =>
        leases.filter(({ id }) => id.startsWith(`${MONTH}${sides.run}_`)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const lapsed = command.do === 'findLapsed';
      return both(
        async () => sorted(await (lapsed ? store.findLapsed(500, 0) : store.findOverdue(500, 5_000))),
        () => sorted(lapsed ? model.findLapsed(500) : model.findOverdue(500, 5_000)),
      );
    }
    case 'pass':
      sides.now += command.ms;
      await real.setTime(sides.now);
      return [null, null];
  }
}

const RESPONSE: PollResponse = {
  poll_id: 'EP-simulated',
  status: 'success',
  outcome: 'A',
  question: SPEC.question,
  options: SPEC.options,
  poll_type: 'fptp',
  winning_option: 'A',
  is_tie: false,
  confidence_threshold: SPEC.confidence_threshold,
  max_cost_usd: 1,
  early_terminated: false,
  termination_reason: null,
  models_skipped: 0,
  tally: { A: 3, B: 0 },
  votes: [],
  timing: { gather_ms: 1, total_ms: 1 },
  costs: { total_estimated_cost: 0 },
  confidence: null,
  preset: SPEC.panel_name,
  simulated: true,
};

function answerOf(theirs: () => unknown): unknown {
  try {
    return theirs();
  } catch (error) {
    if (error instanceof Refused) return 'refused';
    throw error;
  }
}

/** What is left in both: rows of polls with their votes, letters and details, and the account's balance. */
async function leftIn({ real, model, accountId, run }: Sides): Promise<[unknown, unknown]> {
  const rows = await real.query(`
    select id, status, lease_owner as "leaseOwner", lease_epoch as "leaseEpoch", lease_until as "leaseUntil", claims,
           created_at as "createdAt", deadline_at as "deadlineAt", finished_at as "finishedAt",
           (select detail::text from results where poll_id = polls.id) as detail,
           (select reason from dead_letters where poll_id = polls.id) as "deadLetter",
           (select coalesce(sum(billed_u), 0)::int from votes where poll_id = polls.id) as "billedU",
           (select count(*)::int from votes where poll_id = polls.id) as votes
      from polls where starts_with(id, '${MONTH}${run}_') order by id`);
  const modelled = [...model.polls.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ accountId: _, acceptance: __, ...row }) => ({
      ...row,
      leaseUntil: new Date(row.leaseUntil),
      createdAt: new Date(row.createdAt),
      deadlineAt: new Date(row.deadlineAt),
      finishedAt: row.finishedAt === null ? null : new Date(row.finishedAt),
      billedU: row.votes.reduce((sum, each) => sum + each.billed_u, 0),
      votes: row.votes.length,
    }));
  const balance = await balanceOf(real.storage, accountId);
  const { postedU, heldU, usedU } = model.books.balances.get(accountId)!;
  return [
    { rows, balance },
    {
      rows: modelled,
      balance: { postedU, heldU, availableU: postedU - heldU, heldBackU: 0n, reservedU: 0n, lowU: null, usageU: usedU },
    },
  ];
}

t.test('the store of the simulation answers what Postgres answers', async (t) => {
  const real = await frozenDatabase(t);
  let run = 0;
  const answers = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 80, size: 'max' }), async (commands) => {
      const accountId = await createAccount(real.storage);
      await creditAccount(real.storage, { accountId, amountU: 6_000n, source: 'operator', idem: `grant:${accountId}` });
      const sides: Sides = { real, model: modelStore(() => sides.now), accountId, run: ++run, now: BEGIN };
      await real.setTime(BEGIN);
      sides.model.credit(accountId, 6_000n);
      for (const each of commands) {
        const [ours, theirs] = await perform(sides, each);
        const kind = `${each.do}: ${kindOf(theirs)}`;
        answers.set(kind, (answers.get(kind) ?? 0) + 1);
        deepStrictEqual(theirs, ours, `${each.do}: ${inspect(theirs)}, and Postgres says ${inspect(ours)}`);
      }
      const [ours, theirs] = await leftIn(sides);
      deepStrictEqual(theirs, ours);
    }),
    { numRuns: 40 },
  );
  // Polls that the commands left running are overdue by the clock of the last run, which is their right.
  await real.setTime(BEGIN);
  t.same(await checkLedger(real.storage), []);
  t.comment([...answers].map(([kind, count]) => `${kind} ${count}`).join(', '));
  for (const kind of ['accept: joined', 'accept: reused', 'accept: insufficient', 'claim: null', 'claim: object'])
    t.ok(answers.has(kind), kind);
  for (const kind of ['claimOverdue: object', 'finish: stored', 'finish: fenced', 'finish: refused', 'bury: stored'])
    t.ok(answers.has(kind), kind);
});

function kindOf(answer: unknown): string {
  if (answer === null || typeof answer !== 'object') return String(answer);
  if ('outcome' in answer) return String(answer.outcome);
  return 'kind' in answer ? String(answer.kind) : Array.isArray(answer) ? 'list' : 'object';
}
