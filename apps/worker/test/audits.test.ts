import { openBus } from '@eloquentpoll/bus';
import type { PollSpec, Vote } from '@eloquentpoll/contracts';
import { newResultId, pollIdsOfMonth } from '@eloquentpoll/polls';
import {
  AUDIT_POOL,
  acceptPoll,
  balanceOf,
  cancelPoll,
  checkLedger,
  closeAccount,
  createAccount,
  creditAccount,
  findPoll,
  findResult,
  noteRosterVersion,
  openStorage,
  type RosterVersion,
  readAudits,
  readTrackRecord,
} from '@eloquentpoll/storage';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { type Auditing, keepAuditing } from '../src/auditing.ts';
import { tryClaim } from '../src/claim-poll.ts';
import { systemClock } from '../src/clock.ts';
import type { Context } from '../src/context.ts';
import { NO_EVIDENCE } from '../src/evidence/evidence.ts';
import { hedgeBudget } from '../src/hedge-budget.ts';
import { keepLeases } from '../src/leases.ts';
import { runPoll } from '../src/run-poll.ts';
import { storedAudits } from '../src/stored-audits.ts';
import { storedPolls } from '../src/stored-polls.ts';
import { specOf } from './fixtures/poll-spec.ts';

// slow: 6 s

const SEATS = 7;
const MODELS = Array.from({ length: SEATS }, (_, i) => ({ modelId: `sim/m${i}`, family: `f${i}` }));
const ROSTER: RosterVersion = {
  ...{ version: 'v1', panelName: 'broad', order: 'cheapest', search: false, simulated: true },
  models: MODELS,
};
const SPEC = specOf(
  MODELS.map(({ modelId, family }) => ({
    ...{ model_id: modelId, family, reserve_u: 3_000, call_max_u: 2_000, call_typical_u: 500 },
    ...{ failure_rate: 0, p90_ms: 500 },
  })),
  { question: 'Which one is it, after all?', options: ['A', 'B', 'C', 'D'] },
);
const BY_RECORD: PollSpec = {
  ...SPEC,
  track_record: { order: 'cheapest', roster_version: 'v1', lock_only: false },
};

const vote = (seat: number, option: number | null = 0, error: Vote['error'] = null): Vote => ({
  ...{ seat, model_id: `sim/m${seat}`, option, error, latency_ms: 3, billed_u: option === null ? 0 : 1_000 },
  ...{ provider_cost_u: null, labels: ['QJ', 'ZR', 'XK', 'WV'], calls: 1, searched: false },
  cost: { estimated_u: 400, max_u: 400, fault_u: 0 },
});

const LEDGER = { audits: 400, isCertified: true, isAlarmed: false, stops: { trials: 0, hits: 0 }, blocks: [] };
const CERTIFIED = { few: LEDGER, many: LEDGER, situations: {} };

async function bench(t: Test) {
  const { url: redisUrl, prefix } = testRedis(t);
  const databaseUrl = await testDatabase(t);
  const storage = openStorage({ databaseUrl, maxConnections: 4, connectTimeoutMs: 5_000 });
  const bus = await openBus({ redisUrl, prefix, commandTimeoutMs: 5_000 });
  const accountId = await createAccount(storage);
  await creditAccount(storage, { accountId, amountU: 1_000_000n, idem: 'test', source: 'operator' });
  await noteRosterVersion(storage, ROSTER);
  const query = (statement: string) => asOwner(databaseUrl, statement);
  const plant = (state: unknown) =>
    query(`insert into track_records (roster_version, audits, state) values ('v1', 400, '${JSON.stringify(state)}')
           on conflict (roster_version) do update set state = excluded.state`);
  await plant(CERTIFIED);
  const running: Auditing[] = [];
  const contexts: Context[] = [];
  t.teardown(async () => {
    await Promise.all(running.map((auditing) => auditing.stop()));
    for (const context of contexts) context.leases.stop();
    await bus[Symbol.asyncDispose]();
    await storage[Symbol.asyncDispose]();
  });
  let accepted = 0;
  const asked: number[] = [];

  function worker(workerId: string, ask: Context['ask'] = async ({ seat }) => vote(seat)): Context {
    const polls = storedPolls(storage);
    const context: Context = {
      ...{ workerId, polls, bus, audits: null, evidence: NO_EVIDENCE },
      async ask(request, options) {
        if (!(await options.beforeCall())) return vote(request.seat, null, 'aborted');
        asked.push(request.seat);
        return ask(request, options);
      },
      leases: keepLeases(polls, workerId, systemClock, () => {}),
      ...{ hedges: hedgeBudget(), freeFailures: { atLeastU: 0n, sharePpm: 0 }, clock: systemClock },
      ...{ random: Math.random, log: pino({ level: 'silent' }) },
      [Symbol.asyncDispose]: async () => {},
    };
    contexts.push(context);
    return context;
  }

  return {
    ...{ storage, bus, asked, worker, accountId },
    query,
    plant,
    audit(context: Context, { dayCapU = 1_000_000n, waiting = (): number => 0 } = {}): Auditing {
      const counts = async () => ({ waiting: waiting(), active: 0, oldestAt: null });
      const idle = { ...context, bus: { ...bus, queueCounts: counts } };
      const auditing = keepAuditing(idle, storedAudits(storage, { dayCapU, ceiling: undefined }), {
        ...{ concurrency: 10, tickMs: 10 },
      });
      running.push(auditing);
      return auditing;
    },
    /** Accepted, run and answered; what was asked until then is forgotten. Canceled once so many models were asked. */
    async answered(spec: PollSpec = BY_RECORD, context = worker(`w${accepted}`), canceledAfter?: number) {
      const n = String(++accepted);
      const id = `${pollIdsOfMonth(new Date())}${n.padStart(22, 'a')}`;
      const resultId = `${newResultId().slice(0, 'EP-2026-01-01-'.length)}${n.padStart(16, 'a')}`;
      const poll = { id, resultId, accountId, spec, deadlineMs: 60_000, entryPoint: 'test', auditVersion: 'v1' };
      await acceptPoll(storage, { poll, holdU: 21_000n });
      const ended = runPoll(context, (await tryClaim(context, id))!, new AbortController().signal);
      if (canceledAfter !== undefined) {
        await eventually('so many models are asked', () => asked.length >= canceledAfter);
        await cancelPoll(storage, accountId, id);
        context.leases.look(id);
      }
      await ended;
      asked.splice(0);
      const heard = (await findResult(storage, resultId))!.detail.votes.length;
      return { id, resultId, heard };
    },
    audits: () => readAudits(storage, { rosterVersion: 'v1' }),
  };
}

/** All situations of unanimous votes, with these figures. */
const situations = (polls: number, won: number) =>
  Object.fromEntries(Array.from({ length: SEATS }, (_, i) => [`${i + 1} ${i + 1} 4`, [polls, won]]));

t.test(
  'after the answer the other models are asked; its caller sees nothing of it, and the record learns',
  async (t) => {
    const bed = await bench(t);
    const dissent: Context['ask'] = async ({ seat }) => vote(seat, seat < 4 ? 0 : 1);
    const { id, resultId, heard } = await bed.answered(BY_RECORD, bed.worker('asks', dissent));
    t.ok(heard < SEATS, 'it stopped early');
    const before = JSON.stringify([await findResult(bed.storage, resultId), await findPoll(bed.storage, id)]);
    const paid = await balanceOf(bed.storage, bed.accountId);
    const money = (poll: string) => poll.replace(/"remainingMs":\d+/, '');

    bed.audit(bed.worker('audits', dissent));
    await eventually('the audit is stored', async () => (await bed.audits()).length === 1);
    const [row] = await bed.audits();
    const stoppedAt = row!.stoppedAt;
    t.match(row, {
      pollId: id,
      askedOrder: 'cheapest',
      optionCount: 4,
      threshold: 0.95,
      reason: 'confidence',
      winner: 0,
    });
    t.same(new Set(row!.seats), new Set([0, 1, 2, 3, 4, 5, 6]), 'the whole panel');
    t.same(
      row!.votes,
      row!.seats.map((seat) => (seat < 4 ? 0 : 1)),
    );
    t.equal(row!.said.length, stoppedAt);
    t.ok(row!.said.at(-1)! >= 0.95);
    t.equal(new Set(bed.asked).size, bed.asked.length, 'no model was asked twice');
    const after = JSON.stringify([await findResult(bed.storage, resultId), await findPoll(bed.storage, id)]);
    t.equal(money(after), money(before));
    t.same(await balanceOf(bed.storage, bed.accountId), paid);
    t.equal((await balanceOf(bed.storage, AUDIT_POOL))?.usageU, BigInt(400 * (SEATS - stoppedAt)));
    t.same(await checkLedger(bed.storage), []);

    await eventually('it is learned', async () => (await readTrackRecord(bed.storage, 'v1'))?.audits === 401);
    t.same((await readTrackRecord(bed.storage, 'v1'))?.state.situations['3 3 4'], [1, 1]);
  },
);

t.test(
  'models whose calls a cancellation aborted were not heard: the audit asks them, and the panel decides',
  async (t) => {
    const bed = await bench(t);
    const twoAnswer: Context['ask'] = ({ seat }, { signal }) =>
      seat < 2
        ? Promise.resolve(vote(seat))
        : new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(vote(seat, null, 'aborted')), { once: true });
          });
    const allAtOnce: PollSpec = { ...BY_RECORD, panel_name: 'fast', confidence_threshold: 1 };
    const { id, resultId } = await bed.answered(allAtOnce, bed.worker('canceled', twoAnswer), SEATS);
    const { detail } = (await findResult(bed.storage, resultId))!;
    t.equal(detail.votes.filter(({ error }) => error === 'aborted').length, SEATS - 2, 'all seven were asked');
    t.same(await bed.audits(), [], 'no row without them');
    const jobs = await bed.query('select max_u::integer from audit_jobs');
    t.same(jobs, [{ max_u: (SEATS - 2) * 3_000 }], 'what they may cost is covered');

    bed.audit(bed.worker('audits', async ({ seat }) => vote(seat, 1)));
    await eventually('the audit is stored', async () => (await bed.audits()).length === 1);
    const [row] = await bed.audits();
    t.match(row, { pollId: id, stoppedAt: 2, votes: [0, 0, 1, 1, 1, 1, 1], winner: 1, reason: null });
    t.equal(row!.said.length, 2);
    t.same(bed.asked.toSorted(), [2, 3, 4, 5, 6]);
  },
);

t.test('no audit is begun while a poll waits', async (t) => {
  const bed = await bench(t);
  await bed.answered();
  let looks = 0;
  const busy = bed.audit(bed.worker('busy'), {
    waiting() {
      looks += 1;
      return 1;
    },
  });
  const idle = bed.worker('idle');
  await eventually('it has looked ten times', () => looks >= 10);
  t.same(bed.asked, []);
  await busy.stop();
  bed.audit(idle);
  await eventually('then it is', async () => (await bed.audits()).length === 1);
});

t.test('a worker that dies in an audit leaves it to the next; each model is called once by each', async (t) => {
  const bed = await bench(t);
  const { heard } = await bed.answered();
  const dead = bed.worker(
    'dies',
    ({ seat }, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(vote(seat, null, 'aborted')));
      }),
  );
  bed.audit(dead);
  await eventually('it asks', () => bed.asked.length === SEATS - heard);
  const firstCalls = bed.asked.splice(0);
  await bed.query("update audit_jobs set lease_until = now() - interval '1 second'");
  bed.audit(bed.worker('lives'));
  await eventually('the audit is stored', async () => (await bed.audits()).length === 1);
  t.same(bed.asked.toSorted(), firstCalls.toSorted(), 'the same models once more');
  t.same(await checkLedger(bed.storage), []);
  const { usageU, heldU } = (await balanceOf(bed.storage, AUDIT_POOL))!;
  const missing = SEATS - heard;
  t.equal(
    usageU,
    BigInt(missing * 3_000 + missing * 400),
    'the most for the calls that are not known, and what the others cost',
  );
  t.equal(heldU, 0n);
});

t.test('a worker that stops gives its audit back', async (t) => {
  const bed = await bench(t);
  await bed.answered();
  const slow = bed.worker(
    'slow',
    ({ seat }, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(vote(seat, null, 'aborted')));
      }),
  );
  const auditing = bed.audit(slow);
  await eventually('it asks', () => bed.asked.length > 0);
  await auditing.stop();
  t.same(await bed.query('select * from audit_jobs'), []);
  t.equal((await balanceOf(bed.storage, AUDIT_POOL))?.heldU, 0n);
  t.same(await checkLedger(bed.storage), []);
});

t.test(
  'no model is called for a deleted poll, beyond the cap, or by a worker whose audits may cost nothing',
  async (t) => {
    const bed = await bench(t);
    await bed.answered();
    const poor = bed.audit(bed.worker('poor'), { dayCapU: 100n });
    const mute = bed.audit(bed.worker('mute'), { dayCapU: 0n });
    await eventually(
      'the poor one has looked',
      async () => (await balanceOf(bed.storage, AUDIT_POOL))?.postedU === 100n,
    );
    t.same(bed.asked, []);
    await Promise.all([poor.stop(), mute.stop()]);
    await bed.query(`update balances set posted_u = 1000000 where account_id = '${AUDIT_POOL}'`);
    await closeAccount(bed.storage, bed.accountId);
    bed.audit(bed.worker('rich'));
    await eventually('the job is gone', async () => (await bed.query('select from audit_jobs')).length === 0);
    t.same(bed.asked, []);
    t.same(await bed.audits(), []);
  },
);

t.test('an hour in which no model answers teaches nothing', async (t) => {
  const bed = await bench(t);
  await bed.answered();
  bed.audit(bed.worker('outage', async ({ seat }) => vote(seat, null, 'provider_error')));
  await eventually('the job is gone', async () => (await bed.query('select from audit_jobs')).length === 0);
  t.same(await bed.audits(), []);
  t.ok((await balanceOf(bed.storage, AUDIT_POOL))!.usageU > 0n, 'the calls are paid');
});

t.test('a record that is missing, damaged or full of lies makes a poll longer, never shorter', async (t) => {
  const bed = await bench(t);
  const { heard: votesByUrn, resultId } = await bed.answered(SPEC);
  const plain = (await findResult(bed.storage, resultId))!.detail;
  t.notOk('asking' in plain || 'track_record' in plain, 'without a record nothing is said of one');
  const votesTo = async (state: unknown) => {
    if (state === undefined) await bed.query('delete from track_records');
    else await bed.plant(state);
    const { resultId } = await bed.answered();
    const { detail } = (await findResult(bed.storage, resultId))!;
    return { votes: detail.votes.length, detail };
  };

  const missing = await votesTo(undefined);
  t.match(missing.detail, { asking: { lock_only: true }, termination_reason: 'mathematical_lock' });
  t.ok(missing.votes > votesByUrn);
  const garbage = await votesTo({ few: 7, many: [], situations: 'none' });
  t.match(garbage.detail, { asking: { lock_only: true }, termination_reason: 'mathematical_lock' });

  const impossible = { '3 3 4': [-20, -5], '4 4 4': [5, 900], '5 5 4': ['x', null] };
  t.equal((await votesTo({ few: LEDGER, many: LEDGER, situations: impossible })).votes, votesByUrn, 'left out');
  t.equal((await votesTo({ few: LEDGER, many: LEDGER, situations: situations(5_000, 5_000) })).votes, votesByUrn);
  const gloomy = await votesTo({ few: LEDGER, many: LEDGER, situations: situations(5_000, 0) });
  t.equal(gloomy.detail.termination_reason, 'mathematical_lock');
  t.match(gloomy.detail.timing.arrivals?.[0], { track_record: { audits: 5_000, same_leader: 0 } });
  t.ok(gloomy.detail.timing.arrivals![0]!.confidence! < 0.01);
  const alarmed = await votesTo({ few: LEDGER, many: { ...LEDGER, isAlarmed: true }, situations: {} });
  t.match(alarmed.detail, { asking: { lock_only: true }, termination_reason: 'mathematical_lock' });
});
