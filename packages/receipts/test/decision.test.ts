import t from 'tap';
import { checkDecision } from '../src/parts/decision.ts';
import { replayed } from '../src/parts/replayed.ts';
import type { Statement } from '../src/receipt.ts';

/** Nine models asked at once, three of which voted for the first option before the others ended with this error. */
const endedBy = (error: string): Statement => ({
  version: 1,
  result_id: 'EP-2026-11-22-d8egvr3fxfap1ees',
  question_sha256: '',
  options: ['A', 'B'],
  preset: 'broad',
  simulated: true,
  order: 'shuffled',
  panel: Array.from({ length: 9 }, (_, i) => ({ model_id: `m${i}`, family: `f${i}`, failure_rate: 0.05 })),
  rule: { version: 1, threshold: 1, min_votes: 3 },
  votes: Array.from({ length: 9 }, (_, seat) => ({
    ...{ seat, latency_ms: 100, at_ms: 100 + seat },
    ...(seat < 3 ? { option: 0, error: null } : { option: null, error }),
  })),
  decision: {
    ...{ reason: null, status: 'success', winner: 0, tie: false, tally: [3, 0], confidence: 1, chances: [] },
    skipped: 0,
  },
  times: { accepted_at: '2026-11-22T13:00:00.000Z', gather_ms: 1, total_ms: 1 },
  price_sha256: '',
});

t.test('calls that a deadline or a cancellation ended together were not decided one by one', async (t) => {
  for (const error of ['timeout', 'aborted']) {
    const statement = endedBy(error);
    t.match(checkDecision(statement, replayed(statement, null), null), { state: 'holds' }, error);
  }
  const statement = endedBy('refusal');
  t.match(checkDecision(statement, replayed(statement, null), null), { state: 'fails', says: /stop this poll after/ });
});

t.test('without the order of the votes nothing is said of when the rules would have stopped it', async (t) => {
  const ordered = endedBy('timeout');
  const votes = ordered.votes.map(({ at_ms: _, ...vote }) => vote);
  const statement = { ...ordered, votes };
  const says = (one: Statement) => {
    const state = checkDecision(one, replayed(one, null), null);
    return [state.state, 'says' in state ? state.says : ''];
  };
  t.match(says(ordered), ['holds', /^No rule had stopped it [^.]*\.$/]);
  t.match(says(statement), ['holds', /cannot be seen, because the order of its votes is not stated\.$/]);
  const locked = (one: Statement): Statement => ({
    ...one,
    votes: one.votes.slice(0, 5).map((vote) => ({ ...vote, option: 0, error: null })),
    decision: { ...one.decision, reason: 'mathematical_lock', tally: [5, 0], skipped: 4 },
  });
  t.match(says(locked(ordered)), ['holds', /^After the last vote, and not before, the rules stop it/]);
  t.match(says(locked(statement)), ['holds', /^After the last vote, the rules stop it.* cannot be seen/]);
});

t.test('a budget that ended a poll is not refused where what the track record said then is not stated', async (t) => {
  const price = {
    ...{ nonce: '', max_cost_u: 300, reserves_u: Array.from({ length: 9 }, () => 100) },
    votes: [100, 100, 100, 0].map((billed_u) => ({ billed_u, fault_u: 0 })),
  };
  const ordered = endedBy('refusal');
  const record = { roster_version: 'v', lock_only: false };
  // The votes alone would have reached this threshold.
  const spent: Statement = {
    ...ordered,
    rule: { version: 3, threshold: 0.9, min_votes: 3, record },
    votes: ordered.votes.slice(0, 4).map(({ at_ms: _, ...vote }) => vote),
    decision: { ...ordered.decision, reason: 'budget', status: 'partial', skipped: 5 },
  };
  const said = (one: Statement) => checkDecision(one, replayed(one, price), price);
  t.match(said(spent), { state: 'holds', says: /paid for no further vote/ });
  const richer = { ...price, max_cost_u: 400 };
  t.match(checkDecision(spent, replayed(spent, richer), richer), { state: 'fails', says: /was not spent/ });
  const { record: _, ...rule } = spent.rule;
  t.match(said({ ...spent, rule }), { state: 'fails', says: /the threshold was reached/ }, 'there was no record');
  const version2 = { ...spent, rule: { ...spent.rule, version: 2 } };
  t.match(said(version2), { state: 'fails', says: /the threshold was reached/ }, 'version 2 would state what it said');
  const braked = { ...version2, decision: { ...version2.decision, record: { audits: 500, same_leader: 250 } } };
  t.match(said(braked), { state: 'holds' });
});
