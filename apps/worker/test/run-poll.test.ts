import { openBus } from '@eloquentpoll/bus';
import type { PollSpec, ProgressSnapshot, Timing, Vote } from '@eloquentpoll/contracts';
import {
  newPollId,
  newResultId,
  OPERATOR_ENTRY,
  pollIdsOfMonth,
  pollState,
  runningSnapshot,
} from '@eloquentpoll/polls';
import {
  acceptPoll,
  balanceOf,
  cancelPoll,
  checkLedger,
  claimPoll,
  createAccount,
  creditAccount,
  findPoll,
  findResult,
  findResultOfPoll,
  openStorage,
} from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { tryClaim } from '../src/claim-poll.ts';
import { systemClock } from '../src/clock.ts';
import type { Context } from '../src/context.ts';
import { NO_EVIDENCE } from '../src/evidence/evidence.ts';
import { hedgeBudget } from '../src/hedge-budget.ts';
import { keepLeases } from '../src/leases.ts';
import { runPoll } from '../src/run-poll.ts';
import { storedPolls } from '../src/stored-polls.ts';
import { keepSweeping, sweep } from '../src/sweep.ts';
import { openRedisLink } from './fixtures/redis-link.ts';

// slow: 5 s

// A poll from claim to stored result on real Postgres and Redis; only the models are stand-ins.

const SPEC: PollSpec = {
  question: 'Which one is it, after all?',
  options: ['__proto__', 'B'],
  panel_name: 'broad',
  confidence_threshold: 1,
  max_cost_u: 1_000_000,
  min_votes: 3,
  search: false,
  seed: 'seed',
  seats: Array.from({ length: 7 }, (_, i) => ({
    model_id: `sim/m${i}`,
    family: `f${i}`,
    reserve_u: 2_000,
    failure_rate: 0,
    p90_ms: 500,
  })),
  simulated: true,
};

const vote = (seat: number, option: number | null = 0): Vote => ({
  seat,
  model_id: `sim/m${seat}`,
  option,
  error: option === null ? 'refusal' : null,
  latency_ms: 3,
  billed_u: option === null ? 0 : 1_000,
  provider_cost_u: null,
  labels: ['QJ', 'ZR'],
  calls: 1,
  searched: false,
});

async function bench(t: Test) {
  const { url: redisUrl, prefix } = testRedis(t);
  const storage = openStorage({ databaseUrl: await testDatabase(t), maxConnections: 4, connectTimeoutMs: 5_000 });
  const bus = await openBus({ redisUrl, prefix, commandTimeoutMs: 5_000 });
  const accountId = await createAccount(storage);
  await creditAccount(storage, { accountId, amountU: 1_000_000n, idem: 'test', source: 'operator' });
  const asked: number[] = [];
  const contexts: Context[] = [];
  t.teardown(async () => {
    for (const context of contexts) context.leases.stop();
    await bus[Symbol.asyncDispose]();
    await storage[Symbol.asyncDispose]();
  });
  let accepted = 0;
  return {
    storage,
    bus,
    accountId,
    asked,
    worker(workerId: string, ask: Context['ask'] = async ({ seat }) => vote(seat)): Context {
      const log = pino({ level: 'silent' });
      const context: Context = {
        workerId,
        polls: storedPolls(storage),
        bus,
        async ask(request, options) {
          if (!(await options.beforeCall())) return vote(request.seat, null);
          asked.push(request.seat);
          return ask(request, options);
        },
        leases: keepLeases(storedPolls(storage), workerId, systemClock, () => {}),
        audits: null,
        hedges: hedgeBudget(),
        freeFailures: { atLeastU: 0n, sharePpm: 0 },
        evidence: NO_EVIDENCE,
        clock: systemClock,
        random: Math.random,
        log,
        [Symbol.asyncDispose]: async () => {},
      };
      contexts.push(context);
      return context;
    },
    async accept(more: { spec?: Partial<PollSpec>; deadlineMs?: number } = {}) {
      const n = ++accepted;
      const id = `${pollIdsOfMonth(new Date())}${String(n).padStart(22, 'a')}`;
      await acceptPoll(storage, {
        poll: {
          id,
          resultId: `${newResultId().slice(0, 'EP-2026-01-01-'.length)}${String(n).padStart(16, 'a')}`,
          accountId,
          spec: { ...SPEC, ...more.spec },
          deadlineMs: more.deadlineMs ?? 60_000,
          entryPoint: 'test',
        },
        holdU: 14_000n,
      });
      return id;
    },
  };
}

const tallyOf = (result: Awaited<ReturnType<typeof findResult>>): object => {
  const tally = result?.detail.tally;
  return typeof tally === 'object' && tally !== null ? tally : {};
};
const alive = () => new AbortController().signal;

/** What a worker does with a job. */
async function claimAndRun(context: Context, pollId: string, signal: AbortSignal): Promise<void> {
  const claimed = await tryClaim(context, pollId);
  if (claimed) await runPoll(context, claimed, signal);
}

t.test('what is known about its models is in the result', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const worker = bed.worker('w1', async ({ seat }) => vote(seat, seat === 0 ? null : 0));
  worker.evidence = {
    effectiveVotes: (votes) => votes.filter(({ option }) => option !== null).length / 2,
    reading: (optionCount, votes) =>
      votes.length < 4
        ? null
        : { winner: optionCount - 1, odds: [0.25, 0.75], likelihood: 0.75, differs: true, version: 'v' },
  };
  await claimAndRun(worker, id, alive());
  const poll = await findPoll(bed.storage, id);
  const { detail } = (await findResult(bed.storage, poll!.resultId))!;
  t.match(detail, {
    winning_option: '__proto__',
    panel: { missing: [{ model_id: 'sim/m0', error: 'refusal' }], effective_votes: detail.panel!.heard / 2 },
    reading: { winner: 'B', differs: true, likelihood: 0.75, version: 'v' },
  });
});

t.test('a poll is asked, stored, billed and announced', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const news: (ProgressSnapshot | null)[] = [];
  await bed.bus.watchPoll(id, (snapshot) => news.push(snapshot));
  await claimAndRun(bed.worker('w1'), id, alive());

  const poll = await findPoll(bed.storage, id);
  t.equal(poll?.status, 'completed');
  const result = await findResult(bed.storage, poll!.resultId);
  t.match(result?.detail, {
    poll_id: poll!.resultId,
    status: 'success',
    outcome: '__proto__',
    winning_option: '__proto__',
    early_terminated: true,
    termination_reason: 'mathematical_lock',
    models_skipped: 3,
    confidence: 1,
    costs: { total_estimated_cost: 0.004 },
    simulated: true,
  });
  t.same(
    new Map(Object.entries(tallyOf(result))),
    new Map([
      ['__proto__', 4],
      ['B', 0],
    ]),
  );
  const { arrivals = [] } = (result!.detail as { timing: Timing }).timing;
  t.equal(arrivals.length, 4, 'one for each vote');
  t.same(
    arrivals,
    arrivals.toSorted((one, other) => one.at_ms - other.at_ms),
  );
  t.equal(arrivals.at(-1)?.confidence, 1);
  const balance = await balanceOf(bed.storage, bed.accountId);
  t.equal(balance?.availableU, 996_000n);
  t.equal(balance?.heldU, 0n);
  t.same(await checkLedger(bed.storage), []);

  await eventually('the end is published', () => news.at(-1)?.status === 'completed');
  const seqs = news.map((snapshot) => snapshot!.seq);
  t.same(seqs, [0, 1, 2, 3, 4, 5], 'numbered without a gap');
  const [opening, first] = news.map((snapshot) => snapshot!.asking!);
  t.ok(opening! > 0, 'the first calls are in the first snapshot');
  t.equal(first, opening! - 1, 'and one less when a model has answered');
  t.equal(news.at(-1)?.result?.poll_id, poll!.resultId);
  t.match(await bed.bus.runs.read(id), { owner: bed.accountId, snapshot: { status: 'completed' } });
});

t.test('nothing valid: the session fails, nothing is billed', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  await claimAndRun(
    bed.worker('w1', async ({ seat }) => vote(seat, null)),
    id,
    alive(),
  );
  const poll = await findPoll(bed.storage, id);
  t.equal(poll?.status, 'failed');
  t.match((await findResult(bed.storage, poll!.resultId))?.detail, { status: 'failed', outcome: 'no_votes' });
  t.match(await balanceOf(bed.storage, bed.accountId), { availableU: 1_000_000n, heldU: 0n });
});

t.test('a poll that has ended, or that another worker holds, is left alone', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const claim = await claimPoll(bed.storage, id, 'another worker');
  t.ok(claim);
  await claimAndRun(bed.worker('w1'), id, alive());
  t.same(bed.asked, []);
  await claimAndRun(bed.worker('w1'), 'ps_unknown', alive());
  t.same(bed.asked, []);
});

t.test('SIGTERM in a poll: the next worker asks only the models that have not answered', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const stop = new AbortController();
  const first = claimAndRun(
    bed.worker('w1', ({ seat }, { signal }) => {
      if (seat < 2) return Promise.resolve(vote(seat));
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(vote(seat, null))));
    }),
    id,
    stop.signal,
  );
  await eventually('two votes are recorded', async () => (await bed.bus.runs.votes(id)).length >= 2);
  stop.abort();
  await first;
  t.equal((await findPoll(bed.storage, id))?.status, 'running');
  t.equal((await bed.bus.queueCounts()).waiting, 1, 'it has a job again');
  bed.asked.length = 0;
  await claimAndRun(bed.worker('w2'), id, alive());
  t.same(
    bed.asked.filter((seat) => seat < 2),
    [],
  );
  t.equal((await findPoll(bed.storage, id))?.status, 'completed');
});

t.test(
  'votes of a flex poll wait for its next worker until its deadline, those of a standard one for minutes',
  async (t) => {
    const bed = await bench(t);
    const DAY_MS = 86_400_000;
    const ttlOfInterrupted = async (more: Parameters<typeof bed.accept>[0]) => {
      const id = await bed.accept(more);
      const interrupted = async (workerId: string, votes: number) => {
        const stop = new AbortController();
        const run = claimAndRun(
          bed.worker(workerId, ({ seat }, { signal }) => {
            if (seat < votes) return Promise.resolve(vote(seat));
            return new Promise((resolve) => signal.addEventListener('abort', () => resolve(vote(seat, null))));
          }),
          id,
          stop.signal,
        );
        const arrived = async () => (await bed.bus.runs.votes(id)).length >= votes;
        await eventually(`${votes} votes are recorded`, arrived);
        stop.abort();
        await run;
        return bed.bus.redis.pttl(`${bed.bus.prefix}:{${id}}:run`);
      };
      return [await interrupted('w1', 1), await interrupted('w2', 2)];
    };
    for (const ttlMs of await ttlOfInterrupted({ spec: { service_tier: 'flex' }, deadlineMs: DAY_MS }))
      t.ok(ttlMs > DAY_MS, `${ttlMs}`);
    for (const ttlMs of await ttlOfInterrupted({})) t.ok(ttlMs > 60_000 && ttlMs <= 600_000, `${ttlMs}`);
  },
);

t.test('a worker that lost its lease stores nothing and stops asking', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  let release: (vote: Vote) => void = () => {};
  const stuck = new Promise<Vote>((resolve) => {
    release = resolve;
  });
  const zombie = claimAndRun(
    bed.worker('w1', ({ seat }) => (seat === 0 ? stuck : Promise.resolve(vote(seat, 1)))),
    id,
    alive(),
  );
  await eventually('the run is recorded', () => bed.bus.runs.read(id));
  const taken = await claimPoll(bed.storage, id, 'w2', -1);
  t.equal(taken, null, 'the lease holds while it is young');
  await bed.storage.db
    .updateTable('polls')
    .set({ lease_until: new Date(0) })
    .where('id', '=', id)
    .execute();
  await claimAndRun(
    bed.worker('w2', async ({ seat }) => vote(seat, 0)),
    id,
    alive(),
  );
  const before = await findResult(bed.storage, (await findPoll(bed.storage, id))!.resultId);
  release(vote(0, 1));
  await zombie;
  t.same(await findResult(bed.storage, before!.resultId), before, 'the stored result is untouched');
  t.same(await checkLedger(bed.storage), []);
});

t.test('a worker paused past its lease makes no call when it resumes', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  let pausedMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + pausedMs };
  const answers = new Map<number, (vote: Vote) => void>();
  const paused = bed.worker('w1', ({ seat }) => new Promise((resolve) => answers.set(seat, resolve)));
  const leases = keepLeases(storedPolls(bed.storage), 'w1', clock, () => {});
  t.teardown(() => leases.stop());
  const run = claimAndRun({ ...paused, clock, leases }, id, alive());
  await eventually('five models are asked', () => answers.size >= 5);
  t.same(bed.asked, [0, 1, 2, 3, 4]);

  pausedMs = 20_000;
  await bed.storage.db
    .updateTable('polls')
    .set({ lease_until: new Date(0) })
    .where('id', '=', id)
    .execute();
  await claimAndRun(
    bed.worker('w2', async ({ seat }) => vote(seat, 0)),
    id,
    alive(),
  );
  bed.asked.length = 0;
  answers.get(0)!(vote(0, null));
  await run;
  t.same(bed.asked, [], 'a failed vote would have called for the next model');
});

t.test('a worker that takes a poll over from itself goes on with one run of it', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const answers: { seat: number; signal: AbortSignal; answer: (vote: Vote) => void }[] = [];
  const worker = bed.worker(
    'w1',
    ({ seat }, { signal }) => new Promise((answer) => answers.push({ seat, signal, answer })),
  );
  const first = claimAndRun(worker, id, alive());
  await eventually('five models are asked', () => answers.length >= 5);
  await bed.storage.db
    .updateTable('polls')
    .set({ lease_until: new Date(0) })
    .where('id', '=', id)
    .execute();
  const earlier = answers.splice(0);
  const second = claimAndRun(worker, id, alive());
  await eventually('five models are asked', () => answers.length >= 5);
  t.ok(
    earlier.every((call) => call.signal.aborted),
    'the earlier run has stopped its calls',
  );
  bed.asked.length = 0;
  earlier[0]!.answer(vote(0, null));
  await first;
  for (const { seat, answer } of answers) answer(vote(seat));
  await second;
  t.same(bed.asked, [], 'the earlier run asks no model');
  t.equal(worker.leases.size, 0);
  t.equal((await findPoll(bed.storage, id))?.status, 'completed');
});

t.test('a worker whose Redis is away for a moment waits for the votes on record, and not for long', async (t) => {
  const bed = await bench(t);
  /** After one vote that a worker recorded before it died. */
  const takenOver = async (failures: number, deadlineMs: number) => {
    const id = await bed.accept({ deadlineMs });
    await bed.storage.db.updateTable('polls').set({ claims: 1, lease_epoch: 1 }).where('id', '=', id).execute();
    const moment = { pollId: id, epoch: 1, spec: SPEC, state: pollState(SPEC), received: 1, vote: null, elapsedMs: 0 };
    await bed.bus.runs.vote(id, 1, vote(0), runningSnapshot(moment));
    bed.asked.length = 0;
    const context = bed.worker(`w of ${failures}`);
    const { runs } = bed.bus;
    let left = failures;
    const takeOver: typeof runs.takeOver = async (...args) => {
      if (left-- > 0) throw new Error('no connection');
      return runs.takeOver(...args);
    };
    await claimAndRun({ ...context, bus: { ...bed.bus, runs: { ...runs, takeOver } } }, id, alive());
    t.equal((await findPoll(bed.storage, id))?.status, 'completed');
    return bed.asked.includes(0);
  };
  t.notOk(await takenOver(3, 60_000), 'no model is asked again');
  t.ok(
    await takenOver(Number.POSITIVE_INFINITY, 8_000),
    'it goes on without them before a quarter of its time is over',
  );
});

/** A worker with a link to Redis of its own, and models that answer when the test says so. */
async function onLink(t: Test, bed: Awaited<ReturnType<typeof bench>>, commandTimeoutMs: number) {
  const link = await openRedisLink(t, testRedis(t).url);
  const bus = await openBus({ redisUrl: link.url, prefix: bed.bus.prefix, commandTimeoutMs });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const id = await bed.accept();
  const heard: number[] = [];
  await bed.bus.watchPoll(id, (snapshot) => heard.push(snapshot!.seq));
  const answers = new Map<number, (vote: Vote) => void>();
  let failedWrites = 0;
  const worker = bed.worker('on a link', ({ seat }, { signal }) => {
    return new Promise((resolve) => {
      answers.set(seat, resolve);
      signal.addEventListener('abort', () => resolve(vote(seat, null)));
    });
  });
  const log = {
    ...{ info() {}, error() {} },
    warn(_fields: object, event?: string) {
      if (event === 'poll.progress_not_recorded') failedWrites += 1;
    },
  };
  const stop = new AbortController();
  const run = claimAndRun({ ...worker, bus, log }, id, stop.signal);
  await eventually('five models are asked', () => answers.size >= 5);
  const answered = (seat: number) => answers.get(seat)!(vote(seat));
  const onRecord = async () => (await bed.bus.runs.votes(id)).map(({ seat }) => seat).toSorted();
  answered(0);
  await eventually('the first vote is heard of', () => heard.length === 2);
  return { link, bus, id, heard, run, stop, answered, onRecord, failedWrites: () => failedWrites };
}

t.test('votes that arrive while Redis is away are recorded once it is back, and not asked for again', async (t) => {
  const bed = await bench(t);
  const { link, bus, id, heard, run, stop, answered, onRecord, failedWrites } = await onLink(t, bed, 5_000);
  link.cut();
  await eventually('the connection has ended', () => bus.redis.status !== 'ready');
  answered(1);
  answered(2);
  await eventually('two writes have failed', () => failedWrites() === 2);
  t.same(await onRecord(), [0]);
  link.mend();
  await eventually('three votes are on record', async () => (await onRecord()).length === 3);
  t.same(heard, [0, 1, 2, 3], 'watchers hear of each in its order');
  t.match(await bed.bus.runs.read(id), { snapshot: { seq: 3, tally: [3, 0] } });

  await bed.storage.db
    .updateTable('polls')
    .set({ lease_until: new Date(0) })
    .where('id', '=', id)
    .execute();
  bed.asked.length = 0;
  await claimAndRun(bed.worker('the next one'), id, alive());
  t.equal((await findPoll(bed.storage, id))?.status, 'completed');
  t.same(
    bed.asked.filter((seat) => seat <= 2),
    [],
  );
  stop.abort();
  await run;
});

t.test(
  'writes that arrive late, after their repetitions were sent: each snapshot is announced once, in order',
  async (t) => {
    const bed = await bench(t);
    const { link, id, heard, run, answered, onRecord, failedWrites } = await onLink(t, bed, 500);
    const before = failedWrites();
    link.hold();
    answered(1);
    await eventually('a write has no answer', () => failedWrites() === before + 1);
    answered(2);
    await eventually('nor has the next', () => failedWrites() === before + 2);
    link.release();
    await eventually('three votes are on record', async () => (await onRecord()).length === 3);
    answered(3);
    await run;
    await eventually('the end is heard of', () => heard.at(-1) === 5);
    t.same(heard, [0, 1, 2, 3, 4, 5]);
    t.same(await onRecord(), [], 'nothing is recorded after the end');
    t.equal((await findPoll(bed.storage, id))?.status, 'completed');
  },
);

t.test('a poll without Redis ends as soon as with it, and repeats nothing afterwards', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const timers = new Set<object>();
  const clock: Context['clock'] = {
    now: systemClock.now,
    after(ms, callback) {
      const timer = {};
      timers.add(timer);
      const cancel = systemClock.after(ms, () => {
        timers.delete(timer);
        callback();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
  };
  const away = () => Promise.reject(new Error('no connection'));
  const runs = { ...bed.bus.runs, open: away, vote: away, end: away };
  await claimAndRun({ ...bed.worker('w1'), clock, bus: { ...bed.bus, runs } }, id, alive());
  t.equal((await findPoll(bed.storage, id))?.status, 'completed');
  t.equal(timers.size, 0, 'no timer is left');
});

t.test('a worker that finds a newer one on record asks no model', async (t) => {
  const { storage, bus, asked, worker, accept } = await bench(t);
  const id = await accept();
  t.match(await claimPoll(storage, id, 'w0'), { epoch: 1 });
  t.ok(await storedPolls(storage).release({ id, epoch: 1 }));
  t.same(await bus.runs.takeOver(id, 3, 60_000), []);
  await claimAndRun(worker('w2'), id, alive());
  t.same(asked, []);
  t.match(await findPoll(storage, id), { status: 'running' }, 'nor does it end the poll');
});

t.test('a poll that the operator pays for is announced at no cost', async (t) => {
  const { storage, bus, accountId, worker } = await bench(t);
  const id = newPollId();
  const poll = { id, resultId: newResultId(), accountId, spec: SPEC, deadlineMs: 60_000, entryPoint: OPERATOR_ENTRY };
  await acceptPoll(storage, { poll, holdU: 14_000n, free: { dailyCapU: 1_000_000n } });
  const news: (ProgressSnapshot | null)[] = [];
  await bus.watchPoll(id, (snapshot) => news.push(snapshot));
  await claimAndRun(worker('w1'), id, alive());
  const end = await eventually('its end is announced', () => news.find((each) => each?.status === 'completed'));
  t.match(end.result, { costs: { total_estimated_cost: 0 }, votes: { length: 4 } });
  t.notMatch(JSON.stringify(end.result), /"estimated_cost":(?!0[,}])/);
});

t.test('a worker that takes over announces what has arrived so far', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  const stop = new AbortController();
  const first = claimAndRun(
    bed.worker('w1', ({ seat }, { signal }) => {
      if (seat < 2) return Promise.resolve(vote(seat));
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(vote(seat, null))));
    }),
    id,
    stop.signal,
  );
  await eventually('two votes are recorded', async () => (await bed.bus.runs.votes(id)).length >= 2);
  stop.abort();
  await first;
  const news: (ProgressSnapshot | null)[] = [];
  await bed.bus.watchPoll(id, (snapshot) => news.push(snapshot));
  await claimAndRun(bed.worker('w2'), id, alive());
  await eventually('a snapshot arrives', () => news.length > 0);
  t.match(news[0], { progress: { received: 2, succeeded: 2 }, tally: [2, 0], leader: 0 });
});

t.test('a poll is not given up while its votes keep arriving, however many workers die around it', async (t) => {
  const bed = await bench(t);
  const afterTwelveDeaths = async (arrived: number[]) => {
    const id = await bed.accept();
    await bed.storage.db.updateTable('polls').set({ claims: 12, lease_epoch: 12 }).where('id', '=', id).execute();
    const state = pollState(SPEC);
    for (const seat of arrived) {
      const moment = { pollId: id, epoch: 12, spec: SPEC, state, received: seat, vote: null, elapsedMs: 0 };
      await bed.bus.runs.vote(id, 12, vote(seat), runningSnapshot(moment));
    }
    await claimAndRun(bed.worker('w1'), id, alive());
    return (await findPoll(bed.storage, id))?.status;
  };
  t.equal(await afterTwelveDeaths([0, 1]), 'failed');
  t.same(bed.asked, []);
  t.equal(await afterTwelveDeaths([0, 1, 2]), 'completed');
  t.same(bed.asked, [3, 4]);
});

t.test('a poll that took down ten workers is buried, its hold released', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  await bed.storage.db.updateTable('polls').set({ claims: 10 }).where('id', '=', id).execute();
  const news: (ProgressSnapshot | null)[] = [];
  await bed.bus.watchPoll(id, (snapshot) => news.push(snapshot));
  await claimAndRun(bed.worker('w1'), id, alive());
  await eventually('a snapshot arrives', () => news.length > 0);
  t.match(news, [{ status: 'failed', result: null, result_id: null }], 'the end is announced');
  t.same(bed.asked, []);
  t.equal((await findPoll(bed.storage, id))?.status, 'failed');
  t.match(await balanceOf(bed.storage, bed.accountId), { availableU: 1_000_000n, heldU: 0n });
  t.same(await checkLedger(bed.storage), []);
});

t.test('a worker that may not bury a poll any more does not say that it has ended', async (t) => {
  const bed = await bench(t);
  const id = await bed.accept();
  await bed.storage.db.updateTable('polls').set({ claims: 10 }).where('id', '=', id).execute();
  const worker = bed.worker('w1');
  await claimAndRun({ ...worker, polls: { ...worker.polls, bury: async () => 'fenced' } }, id, alive());
  t.equal(await bed.bus.runs.read(id), null);
  t.equal((await findPoll(bed.storage, id))?.status, 'running');
});

t.test(
  'a worker that starts looks after lapsed polls at once: the ones before it may have died before they did',
  async (t) => {
    const bed = await bench(t);
    const id = await bed.accept();
    await bed.storage.db
      .updateTable('polls')
      .set({ lease_until: new Date(0) })
      .where('id', '=', id)
      .execute();
    const waits: number[] = [];
    const worker = bed.worker('w1');
    const clock: Context['clock'] = {
      now: worker.clock.now,
      after(ms, callback) {
        waits.push(ms);
        return worker.clock.after(waits.length === 1 ? 0 : ms, callback);
      },
    };
    const sweeping = keepSweeping({ ...worker, clock });
    await eventually('a job waits', async () => (await bed.bus.queueCounts()).waiting > 0);
    sweeping.stop();
    t.ok(waits[0]! <= 500, 'hardly a wait before the first look');
  },
);

t.test('the sweep finds polls that lost their job, and polls past their deadline end', async (t) => {
  const bed = await bench(t);
  const lost = await bed.accept();
  const late = await bed.accept({ deadlineMs: 1 });
  const held = await bed.accept();
  await claimPoll(bed.storage, held, 'w9');
  const w1 = bed.worker('w1');
  t.equal(await sweep(w1), 0, 'young polls are left to the queue');
  await bed.storage.db
    .updateTable('polls')
    .set({ lease_until: new Date(0) })
    .where('id', 'in', [lost, late])
    .execute();
  t.equal(await sweep(w1), 2);
  t.equal(await sweep(w1), 2);
  t.equal((await bed.bus.queueCounts()).waiting, 2, 'twice found, once enqueued');
  await claimAndRun(w1, lost, alive());
  await claimAndRun(w1, late, alive());
  t.equal((await findPoll(bed.storage, lost))?.status, 'completed');
  const ended = await findPoll(bed.storage, late);
  t.ok(ended?.finishedAt, 'a poll without time left ends without asking further');
});

/** Seats 0 and 1 answer, the others only once their signal aborts. */
const twoAnswer: Context['ask'] = ({ seat }, { signal }) =>
  seat < 2
    ? Promise.resolve(vote(seat))
    : new Promise((resolve) => {
        const stop = () => resolve({ ...vote(seat, null), error: 'aborted' });
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      });

t.test('canceled while models are asked: what was answered is stored and billed, at the word of Redis', async (t) => {
  const { storage, accountId, worker, accept, asked } = await bench(t);
  // No renewal is due, which would bring the same news, and later.
  const withoutTimers = { ...systemClock, after: () => () => {} };
  const leases = keepLeases(storedPolls(storage), 'w1', withoutTimers, () => {});
  const context = { ...worker('w1', twoAnswer), leases };
  const id = await accept();
  const before = (await balanceOf(storage, accountId))!.availableU;
  const ended = claimAndRun(context, id, alive());
  await eventually('a third model is asked', () => asked.length > 2);
  const canceledAt = performance.now();
  t.match(await cancelPoll(storage, accountId, id), { outcome: 'ending', isHeld: true });
  context.leases.look(id);
  await ended;
  t.ok(performance.now() - canceledAt < 30_000, 'long before its deadline');
  const { detail, isCanceled } = (await findResultOfPoll(storage, id))!;
  t.match(detail, { termination_reason: null, tally: { B: 0 }, code: undefined });
  t.equal(isCanceled, true);
  t.equal(detail.votes.filter(({ success }) => success).length, 2);
  t.ok(detail.votes.every(({ success, error }) => success || error === 'aborted'));
  t.match(await findPoll(storage, id), { status: 'completed' });
  t.equal((await balanceOf(storage, accountId))!.availableU, before + 14_000n - 2_000n);
  t.same(await checkLedger(storage), []);
});

t.test('canceled before a vote, with Redis away: the next renewal says so', async (t) => {
  const { storage, accountId, worker, accept, asked } = await bench(t);
  const none: Context['ask'] = (request, options) =>
    twoAnswer({ ...request, seat: request.seat + 2 }, options).then((given) => ({
      ...given,
      seat: request.seat,
      model_id: `sim/m${request.seat}`,
    }));
  const context = worker('w1', none);
  const id = await accept();
  const ended = claimAndRun(context, id, alive());
  await eventually('a model is asked', () => asked.length > 0);
  await cancelPoll(storage, accountId, id);
  await ended;
  t.match((await findResultOfPoll(storage, id))!.detail, {
    status: 'failed',
    code: 'poll_canceled',
    termination_reason: null,
  });
  t.match(await findPoll(storage, id), { status: 'failed' });
  t.equal((await balanceOf(storage, accountId))!.availableU, 1_000_000n);
  t.same(await checkLedger(storage), []);
});

t.test('canceled after its worker died: another one stores the votes on record, and asks no model', async (t) => {
  const { storage, bus, accountId, worker, accept, asked } = await bench(t);
  const id = await accept();
  const { epoch, spec } = (await claimPoll(storage, id, 'dead', 0))!;
  const state = pollState(spec, [vote(0)]);
  const snapshot = runningSnapshot({
    pollId: id,
    epoch,
    spec,
    state,
    received: 1,
    vote: vote(0),
    asking: 0,
    elapsedMs: 5,
  });
  await bus.runs.open(id, epoch, accountId, snapshot);
  await bus.runs.vote(id, epoch, vote(0), snapshot);
  t.match(await cancelPoll(storage, accountId, id), { outcome: 'ending', isHeld: false });
  await claimAndRun(worker('w2'), id, alive());
  t.same(asked, []);
  t.match((await findResultOfPoll(storage, id))!.detail, {
    termination_reason: null,
    votes: [{ model_id: 'sim/m0', success: true }],
  });
  t.equal((await balanceOf(storage, accountId))!.availableU, 999_000n);
  t.same(await checkLedger(storage), []);
});
