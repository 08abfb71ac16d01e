import t from 'tap';
import type { NeighbourHistory } from '../src/faults/beside-flood.ts';
import type { Fault } from '../src/faults/fault-kinds.ts';
import type { CampaignHistory } from '../src/faults/history.ts';
import type { RecordedOperation } from '../src/faults/operations.ts';
import { neighbourCounts, neighbourFigures, neighbourRules, quietTimes } from '../src/faults/rules/neighbour-rules.ts';
import { attemptOf, honestHistory, operationOf, pollOf } from './honest-history.ts';

// A quiet account beside one that floods: one history in which it does not notice the flood, and lies for each rule.

const [SLOWER, REFUSED, SENT] = neighbourRules.map(({ name }) => name) as [string, string, string];
const CALM_FROM = 100_000;
const NEIGHBOURS: NeighbourHistory = {
  flooder: 'flooder',
  quiet: ['quiet'],
  phases: [
    { isFlooded: true, from: 0, until: 20_000 },
    { isFlooded: false, from: CALM_FROM, until: CALM_FROM + 20_000 },
  ],
};

type Attempts = RecordedOperation['attempts'];

/** A poll whose first request was lost, because its gateway was killed, and whose second one was answered. */
const retried = (asked: number, tookMs: number): Attempts => [
  attemptOf({ asked, answered: asked + 50, status: null, code: 'ECONNRESET' }),
  attemptOf({ asked: asked + 100, answered: asked + tookMs }),
];
const answered = (asked: number, tookMs: number): Attempts => [attemptOf({ asked, answered: asked + tookMs })];
const quietOf = (asked: number, attempts: Attempts, more: Partial<RecordedOperation> = {}): RecordedOperation =>
  operationOf(asked, 'sync', { account: 'quiet', attempts, ...more });

/** Eleven polls, one a second: the median took `ms`, and a fault made two of them last 9 s. */
const phaseOf = (from: number, ms: number): RecordedOperation[] =>
  Array.from({ length: 11 }, (_, i) => {
    const asked = from + 1_000 * i;
    return quietOf(asked, i < 2 ? retried(asked, 9_000) : answered(asked, ms + 10 * (i - 7)));
  });
const FLOOD = operationOf(999, 'async', {
  account: 'flooder',
  attempts: [
    attemptOf({ asked: 5, status: 429, code: 'too_many_running', retryAfterS: 2 }),
    attemptOf({ status: 202 }),
  ],
});
const historyOf = (besideMs: number, more: readonly RecordedOperation[] = []): CampaignHistory => ({
  ...honestHistory,
  neighbours: NEIGHBOURS,
  operations: [FLOOD, ...phaseOf(0, besideMs), ...phaseOf(CALM_FROM, 2_000), ...more],
  polls: [pollOf('p1', { payerId: 'flooder' }), pollOf('p2', { payerId: 'quiet' })],
});
const broken = (history: CampaignHistory): string[] =>
  neighbourRules.filter((rule) => rule.broken(history).length > 0).map(({ name }) => name);

t.test('an account that does not notice its neighbour breaks no rule', async (t) => {
  t.same(broken(historyOf(2_000)), []);
  t.same(broken(historyOf(2_900)), [], '1.45 times as long');
});

t.test('a poll that takes 1.6 times as long beside the flood is seen', async (t) => {
  t.same(broken(historyOf(3_200)), [SLOWER]);
  t.match(neighbourRules[0]!.broken(historyOf(3_200)), [/p50 3\.20 s, .* of 11 beside a flood, p50 2\.00 s/]);
});

t.test('so are polls that are slow by their retries, and those without an answer', async (t) => {
  const slow = (attempts: (asked: number) => Attempts, outcome: RecordedOperation['outcome'] = 'ok') =>
    Array.from({ length: 12 }, (_, i) => quietOf(11_000 + i, attempts(11_000 + i), { outcome }));
  t.same(
    broken(
      historyOf(
        2_000,
        slow((asked) => retried(asked, 3_300)),
      ),
    ),
    [SLOWER],
  );
  const lost = (asked: number) => [attemptOf({ asked, answered: asked + 50, status: null, code: 'ECONNRESET' })];
  t.same(broken(historyOf(2_000, slow(lost, null))), [SLOWER]);
});

t.test('the phase in which a poll is asked decides', async (t) => {
  const late = quietOf(19_999, answered(19_999, 90_000));
  const between = quietOf(50_000, answered(50_000, 90_000));
  const { flooded, calm } = quietTimes(historyOf(2_000, [late, between]));
  t.same([flooded.length, calm.length], [12, 11]);
  t.ok(flooded.includes(90_000));
});

t.test('a quiet account that is refused beside the flood is seen, whatever fails meanwhile', async (t) => {
  const first = (status: number, code: string, gateway = 'g1') =>
    quietOf(15_000, [
      attemptOf({ asked: 15_000, answered: 15_010, status, code, gateway, retryAfterS: 1 }),
      attemptOf({ asked: 15_100, answered: 17_000 }),
    ]);
  const struck: Fault = { kind: 'kill gateway', target: 'g1', at: 6_000, until: 6_500 };
  const found = (refused: RecordedOperation, faults: readonly Fault[] = [struck]) =>
    broken({ ...historyOf(2_000, [refused]), faults });
  t.same(found(first(429, 'rate_limited')), [REFUSED]);
  t.same(found(first(429, 'too_many_running')), [REFUSED]);
  t.same(found(first(402, 'insufficient_balance')), [REFUSED]);
  t.same(found(first(503, 'provider_budget_reached')), [REFUSED]);
  t.same(found(first(503, 'service_unavailable'), []), [REFUSED], 'nothing had failed');
  t.same(found(first(503, 'service_unavailable', 'g2')), [REFUSED], 'another gateway had failed');
  t.same(found(first(503, 'service_unavailable')), [], 'its gateway had failed');
  const alone = quietOf(CALM_FROM + 15_000, [
    attemptOf({ asked: CALM_FROM + 15_000, status: 429, code: 'rate_limited', retryAfterS: 1 }),
    attemptOf({ asked: CALM_FROM + 15_100, answered: CALM_FROM + 17_000 }),
  ]);
  t.same(found(alone), [], 'no other account sent anything');
});

t.test('a flood that was none is seen, and so is a campaign without quiet polls', async (t) => {
  const history = historyOf(2_000);
  t.same(broken({ ...history, operations: history.operations.filter((one) => one !== FLOOD) }), [SENT]);
  t.same(broken({ ...history, operations: [FLOOD] }), [SLOWER]);
  t.same(broken({ ...history, neighbours: null }), [SLOWER, SENT]);
});

t.test('what the page of proofs shows', async (t) => {
  t.match(neighbourCounts(historyOf(3_200)), {
    'polls of quiet accounts': 22,
    'of them beside a flood': 11,
    'of these longer than 1.5 medians without it': 11,
    'without a flood, longer than 1.5 medians': 2,
    'refusals of quiet accounts beside a flood': 0,
    'requests of the flooding account that were refused': 1,
    'polls of the flooding account': 1,
  });
  t.match(neighbourFigures(historyOf(3_200)), { 'beside a flood to without one, p50': '1.60' });
});
