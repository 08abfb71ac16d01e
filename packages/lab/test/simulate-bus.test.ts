import { deepStrictEqual } from 'node:assert/strict';
import { type Bus, openBus } from '@eloquentpoll/bus';
import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import { eventually } from '@eloquentpoll/testkit/eventually';
import fc from '@eloquentpoll/testkit/fast-check';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { type ModelBus, modelBus } from '../src/simulate/world/model-bus.ts';

// The bus of the simulation is held to Redis: the record of a run with its fence and its messages, and the queue with its
// ids. That jobs of dead workers come back in time is proven by the chaos that kills real workers.

async function open(t: Test): Promise<Bus> {
  const { url, prefix } = testRedis(t);
  const bus = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 30_000 });
  t.teardown(() => bus[Symbol.asyncDispose]());
  return bus;
}

type Command =
  | { do: 'open' | 'end'; epoch: number; owner: string; seq: number }
  | { do: 'vote'; epoch: number; seat: number; seq: number }
  | { do: 'takeOver'; epoch: number }
  | { do: 'look' };

const epoch = fc.integer({ min: 1, max: 4 });
/** Most are not newer than what was written before. */
const seq = fc.nat(300);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constantFrom('open' as const, 'end' as const), epoch, owner: fc.constantFrom('one', 'two'), seq }),
  fc.record({ do: fc.constant('vote' as const), epoch, seat: fc.nat(3), seq }),
  fc.record({ do: fc.constant('vote' as const), epoch, seat: fc.nat(3), seq }),
  fc.record({ do: fc.constant('takeOver' as const), epoch }),
  fc.record({ do: fc.constant('look' as const) }),
);

const vote = (seat: number, n: number): Vote => ({
  seat,
  model_id: `m${seat}`,
  option: 0,
  error: null,
  latency_ms: n,
  billed_u: 1,
  provider_cost_u: null,
  labels: [],
  calls: 1,
  searched: false,
});

const snapshot = (pollId: string, seq: number, ended: boolean): ProgressSnapshot => ({
  seq,
  poll_id: pollId,
  status: ended ? 'failed' : 'running',
  models_requested: 4,
  progress: { received: 0, succeeded: 0, failed: 0, total: 4 },
  tally: [0, 0],
  leader: null,
  confidence: null,
  vote: null,
  result_id: null,
  result: null,
  elapsed_ms: 0,
});

const bySeat = (votes: Vote[] | null) => votes?.toSorted((a, b) => a.seat - b.seat) ?? null;

async function perform(real: Bus, model: ModelBus, id: string, n: number, each: Command): Promise<[unknown, unknown]> {
  switch (each.do) {
    case 'open':
    case 'end': {
      const args = [id, each.epoch, each.owner, snapshot(id, each.seq, each.do === 'end')] as const;
      return [await real.runs[each.do](...args), model[each.do](...args)];
    }
    case 'vote': {
      const args = [id, each.epoch, vote(each.seat, n), snapshot(id, each.seq, false)] as const;
      return [await real.runs.vote(...args), model.vote(...args)];
    }
    case 'takeOver':
      return [bySeat(await real.runs.takeOver(id, each.epoch)), bySeat(model.takeOver(id, each.epoch))];
    case 'look':
      return [
        { run: await real.runs.read(id), votes: bySeat(await real.runs.votes(id)) },
        { run: model.read(id), votes: bySeat(model.votes(id)) },
      ];
  }
}

t.test('the run record of the simulation answers and publishes what Redis does', async (t) => {
  const real = await open(t);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 60, size: 'max' }), async (commands) => {
      const id = `ps_${++run}`;
      const model = modelBus(() => 0);
      const heard: (ProgressSnapshot | null)[] = [];
      const watch = await real.watchPoll(id, (news) => heard.push(news));
      for (const [n, each] of commands.entries()) {
        const [ours, theirs] = await perform(real, model, id, n, each);
        deepStrictEqual(theirs, ours, each.do);
      }
      await eventually('all snapshots arrive', () => heard.length >= model.published.length);
      deepStrictEqual(
        model.published.map((each) => each.snapshot),
        heard,
      );
      watch.close();
    }),
    { numRuns: 60 },
  );
  t.pass('in every run');
});

t.test('the queue of the simulation keeps and brings what the real one does', async (t) => {
  const job = fc.record({ poll: fc.nat(4), round: fc.nat(2) });
  for (const rounds of fc.sample(fc.array(fc.array(job, { maxLength: 12 }), { minLength: 3, maxLength: 3 }), {
    numRuns: 3,
  })) {
    const real = await open(t);
    const model = modelBus(() => 0);
    for (const jobs of rounds) {
      for (const { poll, round } of jobs) {
        await real.enqueuePoll(`ps_${poll}`, { round });
        model.enqueue(`ps_${poll}`, round);
      }
      t.equal((await real.queueCounts()).waiting, model.jobs());
      const expected: string[] = [];
      for (let next = model.take(1); next; next = model.take(1)) {
        expected.push(next.pollId);
        model.done(next.id);
      }
      const brought: string[] = [];
      const consumer = real.consumePolls({ concurrency: 1, run: async (pollId) => void brought.push(pollId) });
      await eventually('all jobs are brought', () => brought.length >= expected.length);
      await consumer.drain(30_000);
      t.same(brought, expected, 'each once, in the order in which they came');
      t.match(await real.queueCounts(), { waiting: 0, active: 0 }, 'and nothing is kept');
      t.equal(model.jobs(), 0);
    }
  }
});
