import { openBus } from '@eloquentpoll/bus';
import type { PollSpec, Vote } from '@eloquentpoll/contracts';
import { openMetrics } from '@eloquentpoll/ops';
import { pollState, runningSnapshot } from '@eloquentpoll/polls';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t from 'tap';
import { NO_TRACES } from '../src/ops/job-traces.ts';
import { jobActivity } from '../src/ops/liveness.ts';
import { observedBus } from '../src/ops/observed-bus.ts';

const SPEC: PollSpec = {
  ...{ question: 'Which one is it?', options: ['A', 'B'], panel_name: 'broad', confidence_threshold: 1 },
  ...{ max_cost_u: 1_000, min_votes: 1, search: false, seed: 'seed', simulated: true },
  seats: [{ model_id: 'sim/m0', family: 'f0', reserve_u: 100, failure_rate: 0, p90_ms: 500 }],
};

const VOTE: Vote = {
  ...{ seat: 0, model_id: 'sim/m0', option: 0, error: null, latency_ms: 3, billed_u: 10, provider_cost_u: null },
  ...{ labels: [], calls: 1, searched: false },
};

t.test('a vote whose write is repeated counts once', async (t) => {
  const { url: redisUrl, prefix } = testRedis(t);
  const bus = await openBus({ redisUrl, prefix });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const metrics = openMetrics('worker');
  const { runs } = observedBus(bus, metrics, { standard: jobActivity(), flex: jobActivity() }, NO_TRACES);
  const moment = { pollId: 'ps_a', epoch: 1, spec: SPEC, state: pollState(SPEC, [VOTE]), received: 1, elapsedMs: 5 };
  const snapshot = runningSnapshot({ ...moment, vote: VOTE });
  t.ok(await runs.vote('ps_a', 1, VOTE, snapshot));
  t.ok(await runs.vote('ps_a', 1, VOTE, snapshot));
  t.match(await metrics.text(), /eloquentpoll_votes_total\{model="sim\/m0",[^}]*\} 1\n/);
});
