import type { Vote } from '@eloquentpoll/contracts';
import { pollResponse, pollState } from '@eloquentpoll/polls';
import { standing } from '@eloquentpoll/voting';
import t from 'tap';
import { heardAudit } from '../src/heard-audit.ts';
import { specOf } from './fixtures/poll-spec.ts';

const spec = specOf(
  [...'abcde'].map((model_id) => ({ model_id, family: model_id, reserve_u: 1_000, failure_rate: 0, p90_ms: 900 })),
);

const votes = [0, 1, 0, null, null].map(
  (option, seat): Vote => ({
    ...{ seat, model_id: spec.seats[seat]!.model_id, option, error: option === null ? 'refusal' : null },
    ...{ latency_ms: 1, billed_u: 0, provider_cost_u: null, labels: [], calls: 1, searched: false },
  }),
);

t.test('an audit compares what was said while the poll ran, not the confidence of its partial result', async (t) => {
  const state = pollState(spec, votes);
  const arrivals = votes.map((_, i) => ({
    ...{ at_ms: i, confidence: standing(pollState(spec, votes.slice(0, i + 1))).confidence },
  }));
  const ended = { state, votes, arrivals, reason: 'roster_exhausted' as const };
  const result = pollResponse({ ...ended, resultId: 'EP', spec, gatherMs: 1, totalMs: 1 });
  t.match(result, { status: 'partial', winning_option: 'A' });
  t.ok(result.confidence! < 1);
  const { said, winner } = heardAudit(spec, { ...ended, aborted: [] });
  t.same(
    said,
    arrivals.map(({ confidence }) => confidence),
  );
  t.equal(said.at(-1), 1);
  t.equal(winner, 0);
});
