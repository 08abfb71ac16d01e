// A service in operation, simulated with recorded votes: polls come one after the other, some are audited, the gate
// opens, cheap models become bad and are repaired, the field of the questions changes. The published figures are
// compared with those over all polls, audited or not.
import {
  type AuditBook,
  type AuditedPoll,
  auditBook,
  type CalibrationBand,
  calibrationBands,
  type StatedConfidence,
  statesOf,
} from '@eloquentpoll/evidence';
import {
  newPoll,
  orderInEffect,
  received,
  seededRandom,
  standing,
  stopReason,
  type TrackRecord,
} from '@eloquentpoll/voting';
import { makerOf } from './families.ts';
import type { NamedPanel } from './panels.ts';
import type { Prices } from './price-file.ts';
import { type RecordedPoll, recordedPolls } from './recorded-poll.ts';
import type { VoteFile } from './vote-file.ts';

export interface Phase {
  readonly name: string;
  readonly polls: number;
  /** How many of the cheapest models vote for the first option, whatever is asked. */
  readonly badModels: number;
  /** Which fields are asked about. */
  readonly field: (category: string) => boolean;
  /** The phase begins with a new roster version, without any record or certificate. */
  readonly rebuilt: boolean;
}

export interface PhaseFigures {
  readonly name: string;
  readonly polls: number;
  readonly audits: number;
  /** Share of the polls that were asked cheapest first. */
  readonly cheapest: number;
  readonly dollarsSaved: number;
  readonly wrongStops: number;
  /** Polls of the phase before the gate was open, and before the alarm; null if that did not happen. */
  readonly openedAfter: number | null;
  readonly alarmedAfter: number | null;
  /** From the audited polls of the phase. */
  readonly published: readonly CalibrationBand[];
  /** The number of published bands whose interval contains the share that came true over all polls. */
  readonly covered: number;
}

const THRESHOLD = 0.95;
const WINDOW = 5_000;
/** One in five until there are 500 audits, then one in twenty. */
const auditShare = (audits: number): number => (audits < 500 ? 0.2 : 0.05);

export function liveOperation(
  file: VoteFile,
  panel: NamedPanel,
  prices: Prices,
  phases: readonly Phase[],
  seed: string,
): PhaseFigures[] {
  const draw = seededRandom(seed);
  const orders = {
    cheapest: recordedPolls(file, panel, { order: 'cheapest', prices }),
    shuffled: recordedPolls(file, panel, { order: 'shuffled', prices }),
  };
  const byPrice = panel.models.toSorted((a, b) => prices.get(a)! - prices.get(b)!);
  let version = openVersion(panel);
  return phases.map((phase) => {
    if (phase.rebuilt) version = openVersion(panel);
    const bad = new Set(byPrice.slice(0, phase.badModels));
    const asked = [...orders.cheapest.keys()].filter((i) => phase.field(orders.cheapest[i]!.question.category));
    const count = { audits: 0, cheapest: 0, price: 0, fullPrice: 0, early: 0, wrong: 0 };
    const [published, all]: [StatedConfidence[], StatedConfidence[]] = [[], []];
    let openedAfter: number | null = null;
    let alarmedAfter: number | null = null;
    for (let number = 0; number < phase.polls; number++) {
      const at = asked[draw(asked.length)]!;
      const { optionCount } = orders.cheapest[at]!.question;
      const order = orderInEffect('cheapest', optionCount, version.book.certificates);
      const played = play(
        misled(orders[order][at]!, bad),
        order === 'cheapest' || version.record.isAlarmed ? version.record : null,
      );
      count.cheapest += Number(order === 'cheapest');
      count.price += played.price;
      count.fullPrice += played.fullPrice;
      count.early += Number(played.isEarly);
      count.wrong += Number(played.isWrong);
      const said = played.said.map((state) => ({ ...state, poll: number }));
      all.push(...said);
      if (order === 'cheapest') openedAfter ??= number;
      if (draw(1_000) >= 1_000 * auditShare(version.audits)) continue;
      count.audits += 1;
      published.push(...said);
      version.audit(misled(orders.cheapest[at]!, bad));
      if (version.record.isAlarmed) alarmedAfter ??= number;
    }
    const bands = calibrationBands(published);
    return {
      ...{ name: phase.name, polls: phase.polls, audits: count.audits, openedAfter, alarmedAfter, published: bands },
      cheapest: count.cheapest / phase.polls,
      dollarsSaved: 1 - count.price / count.fullPrice,
      wrongStops: count.wrong / Math.max(1, count.early),
      covered: bands.filter((band) => covers(band, all)).length,
    };
  });
}

/** One roster version: its audits and the resulting track record, which is read again after each audit. */
function openVersion({ models }: NamedPanel) {
  const book: AuditBook = auditBook({ panelSize: models.length, threshold: THRESHOLD, minVotes: 3 });
  const remembered: AuditedPoll[] = [];
  let record: TrackRecord = book.record;
  let audits = 0;
  return {
    book,
    get record() {
      return record;
    },
    get audits() {
      return audits;
    },
    audit({ question: { optionCount }, votes, models }: RecordedPoll) {
      const audited = { optionCount, votes, families: models.map(makerOf) };
      book.enter(audited);
      remembered.push(audited);
      if (remembered.length > WINDOW) book.forget(remembered.shift()!);
      audits += 1;
      record = book.record;
    },
  };
}

const misled = (poll: RecordedPoll, bad: ReadonlySet<string>): RecordedPoll =>
  bad.size === 0 ? poll : { ...poll, votes: poll.votes.map((vote, i) => (bad.has(poll.models[i]!) ? 0 : vote)) };

function play({ question: { optionCount }, models, votes, prices }: RecordedPoll, record: TrackRecord | null) {
  const seats = models.map((model) => ({ family: makerOf(model), reserveU: 0n, failureRate: 0 }));
  const rules = { optionCount, threshold: THRESHOLD, minVotes: 3, maxCostU: 0n, hedge: 'one' as const };
  let poll = newPoll({ ...rules, ...(record && { record }) }, seats);
  const said: (number | null)[] = [];
  let stopped: { calls: number; leader: number | null } | null = null;
  for (const [seat, option] of votes.entries()) {
    poll = received(poll, { seat, option, billedU: 0n });
    if (stopped !== null) continue;
    const { confidence, leader } = standing(poll);
    said.push(confidence);
    if (stopReason(poll) !== null) stopped = { calls: seat + 1, leader };
  }
  const elected = standing(poll).leader;
  const { calls, leader } = stopped!;
  const priceOf = (count: number) => prices!.slice(0, count).reduce((sum, price) => sum + price, 0);
  return {
    price: priceOf(calls),
    fullPrice: priceOf(votes.length),
    isEarly: calls < votes.length,
    isWrong: calls < votes.length && leader !== elected,
    said: statesOf({ panelSize: votes.length, optionCount, votes, said, winner: elected }),
  };
}

/** Whether the share that came true in this band, with every poll counted once, is within the published interval. */
function covers({ from, to, interval }: CalibrationBand, all: readonly StatedConfidence[]): boolean {
  const [truth] = calibrationBands(
    all.filter(({ confidence }) => confidence >= from && confidence < to),
    Number.POSITIVE_INFINITY,
  );
  return truth !== undefined && interval.low <= truth.cameTrue && truth.cameTrue <= interval.high;
}
