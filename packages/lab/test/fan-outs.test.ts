import t from 'tap';
import { compareFanOuts } from '../src/replay/compare-fan-outs.ts';
import { compareRules } from '../src/replay/compare-rules.ts';
import { replayedLatencyMs } from '../src/replay/latencies.ts';
import { recordedPolls } from '../src/replay/recorded-poll.ts';
import { FIVE, votesOf } from './recorded-votes.ts';

t.test('latencies are positive, repeatable, and different for each model and poll', async (t) => {
  const some = Array.from({ length: 2_000 }, (_, id) => replayedLatencyMs('gpt-x', String(id)));
  t.ok(some.every((ms) => ms > 0));
  t.equal(replayedLatencyMs('gpt-x', '7'), some[7]);
  t.ok(new Set(some).size > some.length / 2);
  const sorted = some.toSorted((a, b) => a - b);
  const [p50, p99] = [sorted[1_000]!, sorted[1_980]!];
  t.ok(p50 > 900 && p50 < 9_000, `median ${p50}`);
  t.ok(p99 > 3 * p50, `stragglers ${p99}`);
});

t.test('fan-outs of the live code on recorded votes', async (t) => {
  const file = votesOf(FIVE, ['AAAAA', 'ABABA', 'AAABB', 'AABB-', '-A-A-', '-----', 'BBBBB']);
  const polls = recordedPolls(file, { name: 'five', models: FIVE });
  let watched = 0;
  const figures = await compareFanOuts(polls, 0.95, () => {
    watched += 1;
  });
  t.equal(watched, polls.length);
  const [full, sequential, need, needAndOne, all] = figures;
  t.match(full, { cost: 1, relativeLatency: 1 });
  t.equal(all!.cost, 1);

  const ours = compareRules(polls, 0.95, () => {}).find(({ rule }) => rule === 'EloquentPoll')!;
  t.ok(Math.abs(sequential!.cost - (1 - ours.callsSaved)) < 1e-12, 'one by one asks exactly those that the rule needs');
  t.ok(need!.cost >= sequential!.cost - 1e-12 && needAndOne!.cost >= need!.cost);
  t.ok(all!.meanLatencyMs <= full!.meanLatencyMs && full!.meanLatencyMs < sequential!.meanLatencyMs);
  t.ok(need!.meanLatencyMs < sequential!.meanLatencyMs);
});

t.test('one by one takes the sum of its calls, all at once the longest that is needed', async (t) => {
  const [poll] = recordedPolls(votesOf(FIVE, ['AAAAA']), { name: 'five', models: FIVE });
  const latencies = poll!.models.map((model) => replayedLatencyMs(model, '1'));
  const [full, sequential, need, , all] = await compareFanOuts([poll!], 1, () => {});
  const near = (actual: number, expected: number) =>
    t.ok(Math.abs(actual - expected) < 1e-6, `${actual} is ${expected}`);
  near(full!.meanLatencyMs, Math.max(...latencies));
  near(
    sequential!.meanLatencyMs,
    latencies.slice(0, 3).reduce((sum, ms) => sum + ms, 0),
  );
  near(need!.meanLatencyMs, Math.max(...latencies.slice(0, 3)));
  near(all!.meanLatencyMs, latencies.toSorted((a, b) => a - b)[2]!);
  near(sequential!.cost, 3 / 5);
  near(need!.cost, 3 / 5);
});
