import t from 'tap';
import type { Fault } from '../src/faults/fault-kinds.ts';
import type { PollEvent } from '../src/faults/observer.ts';
import { judgedWait, resumesOf, slowestLines, tookMs, withStoresMs } from '../src/faults/resumes.ts';

const claimed = (pollId: string, epoch: number, worker: string, at: number): PollEvent => ({
  pollId,
  kind: 'claimed',
  epoch,
  worker,
  connection: `of ${worker}`,
  at,
});
const fault = (kind: Fault['kind'], target: string, at: number, until: number, worker?: string): Fault => ({
  kind,
  target,
  at,
  until,
  ...(worker && { worker }),
});

const faults = [
  fault('kill worker', 'w1', 1_990, 2_000, 'one'),
  fault('kill postgres', 'postgres', 1_000, 3_000),
  fault('kill redis', 'redis', 2_500, 5_000),
  fault('dead link', 'w2-redis', 4_000, 20_000),
];

t.test('a wait is counted from the kill to the next claim of a poll that its victim held', async (t) => {
  const journal = [
    claimed('held', 1, 'one', 500),
    claimed('held', 2, 'two', 12_000),
    claimed('lost before', 1, 'one', 500),
    claimed('lost before', 2, 'two', 1_500),
    claimed('ended', 1, 'one', 500),
    { ...claimed('ended', 1, 'one', 1_000), kind: 'ended' as const },
    claimed('of another', 1, 'two', 500),
    claimed('of another', 2, 'three', 12_000),
  ];
  const [resume, ...others] = resumesOf({ journal, faults });
  t.same(others, []);
  t.match(resume, { pollId: 'held', epoch: 1 });
  t.equal(tookMs(resume!), 10_000);
  t.equal(withStoresMs(resume!, faults), 7_000, 'two stores away at once are away once');
});

t.test('a fault that takes nothing from a claim excuses no wait; others do for the time that they last', async (t) => {
  const resume = { pollId: 'held', epoch: 1, killedAt: 2_000, freeAt: 7_000, claimedAt: 12_000 };
  const waitBeside = (kind: Fault['kind'], target: string) => judgedWait(resume, [fault(kind, target, 3_000, 5_000)]);
  for (const kind of ['kill worker', 'kill gateway', 'kill gateway during an upload', 'kill replica'] as const)
    t.match(waitBeside(kind, 'g1'), { cause: 'worker', ms: 10_000, wholeMs: 10_000 }, kind);
  for (const kind of ['kill postgres', 'flushall', 'stop worker'] as const)
    t.match(waitBeside(kind, 'any'), { cause: 'worker', ms: 8_000, wholeMs: 10_000 }, kind);
  t.match(waitBeside('dead link', 'g1-callers'), { ms: 10_000 }, 'a claim does not use the link of callers');
  t.match(waitBeside('kill master', 'r1'), { cause: 'master', withinMs: 30_000, ms: 10_000 });
});

t.test('the slowest come first, with what was struck meanwhile', async (t) => {
  const resumes = [9_000, 30_000].map((ms) => ({
    pollId: `p${ms}`,
    epoch: 1,
    killedAt: 2_000,
    freeAt: 7_000,
    claimedAt: 2_000 + ms,
  }));
  const [line, ...others] = slowestLines(resumes, faults, 1);
  t.same(others, []);
  t.match(
    line,
    /p30000 epoch 1 waited 30\.0 s, 25\.0 s of it after its lease: .*kill redis redis at 0\.5 s for 2\.5 s; dead link w2-redis/,
  );
});
