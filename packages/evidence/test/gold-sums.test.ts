import { conclude, newPoll, type Rules, received, stopReason } from '@eloquentpoll/voting';
import t from 'tap';
import { CONFIDENCE_EDGES, fullCost } from '../src/gold-sums.ts';
import { addGoldPoll, type GoldPoll, noAnswers, noPanel, type PanelSums } from '../src/index.ts';

const RULES: Rules = { optionCount: 4, threshold: 0.95, minVotes: 3, maxCostU: 0n, hedge: 'one' };
const MODELS = [...'abcdefg'];
const SEATS = MODELS.map((model) => ({ model, family: model, reserveU: 0n, failureRate: 0, typicalCost: 50 }));

/** Votes until the rules stop, each for 10 and one more than the vote before; the right answer is 0. */
function poll(votes: readonly (number | null)[], more: Partial<GoldPoll> = {}): GoldPoll {
  const rules = more.rules ?? RULES;
  const heard: GoldPoll['votes'][number][] = [];
  let state = newPoll(rules, SEATS);
  let reason: GoldPoll['reason'] = null;
  for (const [seat, option] of votes.entries()) {
    if (reason !== null) break;
    heard.push({ seat, option, billedU: 0n, cost: 10 + seat });
    state = received(state, { seat, option, billedU: 0n });
    reason = stopReason(state);
  }
  const { confidence } = conclude(state, { reason });
  return { rules, seats: SEATS, votes: heard, reason, confidence, hasCourse: true, answer: 0, ...more };
}

function counted(...polls: GoldPoll[]): PanelSums {
  const panel = noPanel();
  const all = noAnswers();
  for (const one of polls) addGoldPoll(panel, all, one);
  t.same(all, { ...noAnswers(), ...Object.fromEntries(Object.keys(all).map((key) => [key, Reflect.get(panel, key)])) });
  return panel;
}

t.test(
  'a poll that stopped on its confidence: lower thresholds are replayed, higher ones and the panel are unknown',
  async (t) => {
    const stopped = poll([0, 1, 0, 0, 0, 0, 0], { rules: { ...RULES, threshold: 0.9 } });
    t.equal(stopped.reason, 'confidence');
    const { thresholds, stops, foretold, models, ...sums } = counted(stopped);
    t.match(stops, {
      polls: 1,
      calls: stopped.votes.length,
      panelCalls: 7,
      right: 1,
      early: 1,
      judged: 0,
      earlyJudged: 0,
    });
    t.match(thresholds['0.6'], { unknown: 0, stops: { calls: 3, cost: 33, right: 1, judged: 0 } });
    t.match(thresholds['0.9'], { unknown: 0, stops });
    t.match(thresholds['1'], { unknown: 1, stops: { polls: 0 } });
    t.equal(foretold, 0, 'what its states came to is not known');
    t.same(sums.byConfidence.filter(([polls]) => polls > 0).length, 1);
    t.match(models.b, {
      polls: 1,
      asked: 1,
      right: 0,
      panelRight: 1,
      lost: 1,
      gained: 0,
      compared: 1,
      agreed: 0,
      cost: 11,
    });
    t.match(models.g, { polls: 1, asked: 0, cost: 0, typicalCost: 50 });
  },
);

t.test('a poll that ran until nothing could change its answer: everything is known', async (t) => {
  const proven = poll([1, 1, 1, 0, 0, 0, 0], { rules: { ...RULES, threshold: 1 } });
  t.equal(proven.votes.length, 7);
  const { thresholds, foretold, forecasts } = counted(proven);
  t.match(thresholds['0.6'], {
    ...{ unknown: 0, gained: 0, lost: 1 },
    stops: { calls: 3, right: 0, early: 1, judged: 1, earlyJudged: 1, wrong: 1, agreed: 0 },
  });
  t.match(thresholds['1'], { unknown: 0, lost: 0, stops: { calls: 7, right: 1, early: 0, wrong: 0, agreed: 1 } });
  t.equal(foretold, 1);
  const states = forecasts.bins.reduce((sum, [count]) => sum + count, 0);
  t.equal(states, 5, 'after votes 1 to 6 but for the tie after the sixth');
});

t.test('a poll that its deadline ended would have ended there at any threshold that it had not reached', async (t) => {
  const late = poll([0, 1, 0], { reason: null });
  const { thresholds } = counted(late);
  t.match(thresholds['0.99'], { unknown: 0, stops: { calls: 3, right: 1, early: 1, judged: 0 } });
});

t.test('what a track record said is replayed', async (t) => {
  const record = { panelSize: 7, situations: new Map(), isAlarmed: false };
  const rules = { ...RULES, record };
  const votes = [0, 0, 0, 0].map((option, seat) => ({ seat, option, billedU: 0n, cost: 10 }));
  const braked = votes.map((vote, i) => (i === 2 ? { ...vote, outcomes: { polls: 500, won: 250 } } : vote));
  const end = { reason: 'mathematical_lock' as const, confidence: 1 };
  const asked = { rules, seats: SEATS, ...end, hasCourse: true, answer: 0 };
  t.equal(counted({ ...asked, votes }).thresholds['0.9']!.stops.calls, 3);
  t.equal(counted({ ...asked, votes: braked }).thresholds['0.9']!.stops.calls, 4, 'half of such polls went wrong');
  const alarmed = { ...rules, record: { ...record, isAlarmed: true } };
  t.equal(counted({ ...asked, rules: alarmed, votes }).thresholds['0.6']!.stops.calls, 4, 'only a proof stopped it');
});

t.test('a poll without its course is left out of every threshold, and counted with what it came to', async (t) => {
  const known = poll([0, 1, 2, 3, 0, 1, 2]);
  const unclear = poll([1, 0, 0, 0, 0, 0, 0], { hasCourse: false, rules: { ...RULES, threshold: 1 } });
  t.match([known.votes.length, unclear], [7, { reason: 'mathematical_lock' }]);
  const { thresholds, withoutCourse, stops, models, foretold } = counted(known, unclear, unclear);
  const paid = (one: GoldPoll) => one.votes.reduce((sum, { cost }) => sum + cost, 0);
  for (const sums of Object.values(thresholds)) t.ok(sums.unknown + sums.stops.polls === 1, 'the other one alone');
  t.match(withoutCourse?.stops, { polls: 2, right: 2, cost: 2 * paid(unclear) });
  t.match(stops, { polls: 3, right: 2, cost: paid(known) + 2 * paid(unclear) });
  t.equal(foretold, 1, 'what its states said is not known');
  t.equal(fullCost(models) - fullCost(models, withoutCourse?.models), fullCost(counted(known).models));
  t.equal(counted(known).withoutCourse, undefined);
});

t.test('ties and polls without votes are answers that are not right', async (t) => {
  const { stops, noAnswer, shares } = counted(poll([0, 0, 1, 1, 2, 2, null]), poll(MODELS.map(() => null)));
  t.match(stops, { polls: 2, right: 0, judged: 2, agreed: 2 });
  t.equal(noAnswer, 2);
  t.equal(shares.count, 0);
});

t.test('a count that was interrupted goes on from its JSON', async (t) => {
  const [first, second] = [poll([0, 1, 0, 0, 0, 0, 0]), poll([1, 1, null, 1, 1, 1, 0])];
  const [panel, all] = JSON.parse(JSON.stringify([counted(first), noAnswers()])) as [PanelSums, PanelSums];
  addGoldPoll(panel, all, second);
  t.same(panel, counted(first, second));
});

t.test(
  'a whole panel costs what was paid, and for each vote that was not asked what its model cost on average',
  async (t) => {
    const short = poll([0, 0, 0, 0]);
    const { models } = counted(short, poll([0, 1, 2, 3, 0, 1, 2]));
    t.equal(models.g!.asked, 1);
    t.equal(fullCost(models), 2 * (10 + 11 + 12 + 13 + 14 + 15 + 16));
    const paid = short.votes.reduce((sum, { cost }) => sum + cost, 0);
    t.equal(fullCost(counted(short).models), paid + (7 - short.votes.length) * 50, 'or what it usually costs');
  },
);

t.test(
  'a partial poll is in the band of the confidence that its result states, not among the certain ones',
  async (t) => {
    const { byConfidence } = counted(poll([0, 1, 0, null, null, null, null]), poll([0, 0, 0, 0, 0, 0, 0]));
    const bands = CONFIDENCE_EDGES.flatMap((edge, i) => (byConfidence[i]![0] > 0 ? [[edge, byConfidence[i]![0]]] : []));
    t.same(bands, [
      [0.7, 1],
      [0.95, 1],
    ]);
  },
);
