// All figures of a report about polls with known answers, as sums whose size does not depend on the number of polls.
// Plain JSON, so an interrupted count can continue from what is stored.
import { addedBands, type BandTally, bandTally } from './calibration.ts';
import { addForecast, type ForecastSums, noForecasts } from './forecast-sums.ts';
import { asAsked, type GoldCourse, type GoldPoll, goldCourse, stoppedAt } from './gold-poll.ts';
import { addValue, type Moments, noMoments } from './interval.ts';
import { addStop, noStops, type StoppedPoll, type StopSums } from './stop-sums.ts';

export const REPLAYED_THRESHOLDS = [0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.99, 1] as const;

/** The lower edges of the bands. Exactly 1 has its own band. */
export const CONFIDENCE_EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1] as const;
export const AGREEMENT_EDGES = [0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] as const;

/** Number of polls in a band, the sum of their figures, and how many were right. */
export type RightSums = [polls: number, said: number, right: number];

export interface AnswerSums {
  readonly stops: StopSums;
  /** Number of ties and of polls without a valid vote. */
  noAnswer: number;
  /** Mean and spread of the winner's share of the votes. */
  readonly shares: Moments;
  readonly byConfidence: RightSums[];
  readonly byAgreement: RightSums[];
}

export interface ThresholdSums {
  unknown: number;
  readonly stops: StopSums;
  /** `gained`: right at this threshold but not as run. `lost`: the opposite. */
  gained: number;
  lost: number;
}

export interface ModelSums {
  polls: number;
  asked: number;
  right: number;
  /** How often its panels were right in the polls in which it was asked. */
  panelRight: number;
  /** `gained`: of these polls, only this model was right. `lost`: only the panel was right. */
  gained: number;
  lost: number;
  /** Its votes in polls with a winner, and how many were for the winner. */
  compared: number;
  agreed: number;
  cost: number;
  /** The sum of its typical cost over its polls. */
  typicalCost: number;
}

/** Polls that cannot be replayed, because the order of their votes is unknown. Counted as they were run. */
export interface WithoutCourse {
  readonly stops: StopSums;
  readonly models: Record<string, Pick<ModelSums, 'polls' | 'asked' | 'cost'>>;
}

export interface PanelSums extends AnswerSums {
  lowest: number;
  highest: number;
  /** Polls for which it is known whether each state's forecast came true. */
  foretold: number;
  readonly forecasts: ForecastSums;
  bands: BandTally;
  readonly models: Record<string, ModelSums>;
  /** Only of polls with course. */
  readonly thresholds: Record<string, ThresholdSums>;
  /** Undefined if there are none. */
  withoutCourse?: WithoutCourse;
}

export const noAnswers = (): AnswerSums => ({
  ...{ stops: noStops(), noAnswer: 0, shares: noMoments() },
  byConfidence: CONFIDENCE_EDGES.map((): RightSums => [0, 0, 0]),
  byAgreement: AGREEMENT_EDGES.map((): RightSums => [0, 0, 0]),
});

const noModel = (): ModelSums => ({
  ...{
    polls: 0,
    asked: 0,
    right: 0,
    panelRight: 0,
    gained: 0,
    lost: 0,
    compared: 0,
    agreed: 0,
    cost: 0,
    typicalCost: 0,
  },
});

export const noPanel = (): PanelSums => ({
  ...noAnswers(),
  ...{ lowest: 1, highest: 0, foretold: 0, forecasts: noForecasts(), bands: [], models: {} },
  thresholds: Object.fromEntries(
    REPLAYED_THRESHOLDS.map((threshold) => [threshold, { unknown: 0, stops: noStops(), gained: 0, lost: 0 }]),
  ),
});

/** Adds one poll to the sums of its panel and to those of all panels. */
export function addGoldPoll(panel: PanelSums, all: AnswerSums, poll: GoldPoll): void {
  const course = goldCourse(poll);
  const asked = asAsked(poll, course);
  for (const sums of [panel, all]) addAnswer(sums, poll, asked);
  addForecasts(panel, poll, course);
  addModels(panel.models, poll, asked);
  panel.lowest = Math.min(panel.lowest, poll.rules.threshold);
  panel.highest = Math.max(panel.highest, poll.rules.threshold);
  if (!poll.hasCourse) {
    panel.withoutCourse ??= { stops: noStops(), models: {} };
    addWithoutCourse(panel.withoutCourse, poll, asked);
    return;
  }
  for (const threshold of REPLAYED_THRESHOLDS)
    addThreshold(panel.thresholds[threshold]!, asked, stoppedAt(poll, course, threshold));
}

function addWithoutCourse({ stops, models }: WithoutCourse, { seats, votes }: GoldPoll, asked: StoppedPoll): void {
  addStop(stops, asked);
  for (const { model } of seats) {
    models[model] ??= { polls: 0, asked: 0, cost: 0 };
    models[model].polls += 1;
  }
  for (const { seat, cost } of votes) {
    const sums = models[seats[seat]!.model]!;
    sums.asked += 1;
    sums.cost += cost;
  }
}

function addAnswer(sums: AnswerSums, { votes, confidence }: GoldPoll, asked: StoppedPoll): void {
  addStop(sums.stops, asked);
  if (asked.winner === null) {
    sums.noAnswer += 1;
    return;
  }
  const isRight = asked.winner === asked.answer;
  const valid = votes.filter(({ option }) => option !== null);
  const share = valid.filter(({ option }) => option === asked.winner).length / valid.length;
  addValue(sums.shares, share);
  addRight(sums.byAgreement, AGREEMENT_EDGES, share, isRight);
  if (confidence !== null) addRight(sums.byConfidence, CONFIDENCE_EDGES, confidence, isRight);
}

function addRight(bands: RightSums[], edges: readonly number[], said: number, isRight: boolean): void {
  const band = bands[edges.findLastIndex((edge) => said >= edge)]!;
  band[0] += 1;
  band[1] += said;
  band[2] += Number(isRight);
}

/** Adds the states that could still change, if the poll's final outcome is known. */
function addForecasts(sums: PanelSums, { seats, hasCourse }: GoldPoll, { steps, elected }: GoldCourse): void {
  if (elected === undefined || !hasCourse) return;
  const open = steps
    .slice(0, seats.length - 1)
    .flatMap(({ leader, confidence }) =>
      confidence === null || confidence === 1 ? [] : [{ confidence, cameTrue: leader === elected }],
    );
  sums.foretold += 1;
  for (const forecast of open) addForecast(sums.forecasts, forecast);
  sums.bands = addedBands(sums.bands, bandTally(open));
}

function addModels(models: Record<string, ModelSums>, poll: GoldPoll, { winner, answer }: StoppedPoll): void {
  for (const { model, typicalCost } of poll.seats) {
    models[model] ??= noModel();
    const sums = models[model];
    sums.polls += 1;
    sums.typicalCost += typicalCost;
  }
  for (const { seat, option, cost } of poll.votes) {
    const sums = models[poll.seats[seat]!.model]!;
    sums.asked += 1;
    sums.cost += cost;
    const [isRight, isPanelRight] = [option === answer, winner === answer];
    sums.right += Number(isRight);
    sums.panelRight += Number(isPanelRight);
    sums.gained += Number(isRight && !isPanelRight);
    sums.lost += Number(isPanelRight && !isRight);
    if (option === null || winner === null) continue;
    sums.compared += 1;
    sums.agreed += Number(option === winner);
  }
}

function addThreshold(sums: ThresholdSums, asked: StoppedPoll, stopped: StoppedPoll | null): void {
  if (stopped === null) {
    sums.unknown += 1;
    return;
  }
  addStop(sums.stops, stopped);
  const [here, before] = [stopped, asked].map(({ winner, answer }) => winner === answer);
  sums.gained += Number(here && !before);
  sums.lost += Number(!here && before);
}

/**
 * What asking every model would have cost, in all polls or in the polls `of` a subset. Votes that were not asked are
 * counted at their model's average cost over all polls.
 */
export const fullCost = (
  models: Readonly<Record<string, ModelSums>>,
  of: Readonly<WithoutCourse['models']> = models,
): number =>
  Object.entries(of).reduce((sum, [model, { polls, asked, cost }]) => {
    const all = models[model]!;
    const each = all.asked > 0 ? all.cost / all.asked : all.typicalCost / all.polls;
    return sum + cost + (polls - asked) * each;
  }, 0);
