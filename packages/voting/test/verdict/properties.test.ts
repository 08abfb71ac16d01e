// What must hold of the verdict on every poll: the machine's own outcomes, and figures that no machine of ours would send.
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { conclude } from '../../src/conclude.ts';
import { confidence } from '../../src/confidence.ts';
import { stopReason } from '../../src/stop-rules.ts';
import { type VerdictPoll, verdict, verdictText } from '../../src/verdict/verdict.ts';
import { holds } from '../holds.ts';
import { pollAfter, seatsOf } from '../make-poll.ts';

const OPTIONS = ['alder', 'birch', 'cedar', 'dogwood', 'elm'];
const CODES = ['refusal', 'provider_error', 'timeout', 'rate_limited', 'malformed', 'invalid_choice', 'aborted', 'new'];

const anyPoll: fc.Arbitrary<VerdictPoll> = fc.integer({ min: 2, max: 5 }).chain((options) =>
  fc
    .record({
      tally: fc.array(fc.nat({ max: 4 }), { minLength: options, maxLength: options }),
      failures: fc.array(fc.constantFrom(...CODES), { maxLength: 4 }),
      left: fc.nat({ max: 6 }),
      hasEnded: fc.boolean(),
      reason: fc.constantFrom('mathematical_lock', 'confidence', 'budget', 'roster_exhausted', null),
      confidence: fc.constantFrom(null, 0, 0.004, 0.5, 0.95, 1 - 1e-12, 1, Number.NaN),
      savedUsd: fc.constantFrom(0, 0.00004, 0.005, 3),
    })
    .map(({ left, ...poll }) => ({
      ...poll,
      options: OPTIONS.slice(0, options),
      panelSize: left + poll.failures.length + poll.tally.reduce((sum, count) => sum + count, 0),
    })),
);

const leftOf = ({ panelSize, failures, tally }: VerdictPoll) =>
  panelSize - failures.length - tally.reduce((sum, count) => sum + count, 0);

/** Every way in which the missing models could vote, as the largest number of votes that one option can gain. */
function couldChange({ tally }: VerdictPoll, missing: number): boolean {
  const best = Math.max(...tally);
  const leaders = tally.filter((count) => count === best).length;
  return best === 0 || leaders > 1 || tally.some((count) => count < best && count + missing >= best);
}

t.test('never final while votes to come and failed ones together could change the winner', async (t) => {
  holds(
    t,
    'by every completion',
    fc.property(anyPoll, (poll) => {
      const said = verdict(poll);
      const open = couldChange(poll, leftOf(poll) + poll.failures.length);
      return !open || (said.kind !== 'final' && !/\bfinal\b/i.test(verdictText(said)));
    }),
    2_000,
  );
});

t.test('never a percentage over a missing basis, and never 100%', async (t) => {
  holds(
    t,
    'no percentage without a confidence below 1 and a leader',
    fc.property(anyPoll, (poll) => {
      const said = verdict(poll);
      const text = verdictText(said);
      const basis = said.leader !== null && poll.confidence !== null && poll.confidence < 1;
      return !text.includes('100%') && !/NaN|undefined|null/.test(text) && (basis || !text.includes('%'));
    }),
    2_000,
  );
});

t.test('every verdict has a headline; numbers in it are those of the poll', async (t) => {
  holds(
    t,
    'leader, share and probability',
    fc.property(anyPoll, (poll) => {
      const said = verdict(poll);
      const cast = poll.tally.reduce((sum, count) => sum + count, 0);
      const share = said.leader === null ? null : poll.tally[said.leader]! / cast;
      return (
        said.headline !== '' &&
        said.agreement === share &&
        (said.likelyToStay === null || said.likelyToStay === poll.confidence) &&
        cast > 0 === (said.meaning !== null) &&
        poll.hasEnded !== ['leading', 'level', 'waiting'].includes(said.kind)
      );
    }),
  );
});

t.test('options are quoted as they are, whatever they contain', async (t) => {
  const texts = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 3 });
  holds(
    t,
    'the parts say where they stand',
    fc.property(texts, (options) => {
      const tally = options.map((_, i) => (i === 0 ? 3 : 1));
      const said = verdict({
        ...{ options, tally, panelSize: 9, failures: [], hasEnded: true },
        ...{ reason: 'confidence', confidence: 0.96 },
      });
      return said.headline === `${options[0]}: 3 of ${tally.length + 2}, stopped early`;
    }),
  );
});

t.test(
  'a poll of the machine: kept where it left something open, and then the probability is that of the urn',
  async (t) => {
    const votes = fc.array(fc.option(fc.nat({ max: 2 }), { freq: 6 }), { minLength: 1, maxLength: 9 });
    holds(
      t,
      'as status, lock and confidence say',
      fc.property(votes, fc.constantFrom(0.5, 0.8, 0.95, 1), (cast, threshold) => {
        const poll = pollAfter(cast, seatsOf(9), { threshold });
        const reason = stopReason(poll);
        fc.pre(reason !== null);
        const end = conclude(poll, { reason });
        const said = verdict({
          options: OPTIONS.slice(0, 3),
          tally: end.tally,
          panelSize: 9,
          failures: cast.filter((vote) => vote === null).map(() => 'timeout'),
          hasEnded: true,
          reason,
          confidence: end.confidence,
        });
        if (end.status === 'failed') return said.kind === 'unanswered';
        if (end.status === 'partial') return said.kind === 'unsafe';
        if (end.isTie) return said.kind === 'tied';
        if (end.confidence === 1) return said.kind === 'final' && said.likelyToStay === null;
        return said.kind === 'kept' && said.likelyToStay === confidence(end.tally, end.skipped);
      }),
      1_000,
    );
  },
);
