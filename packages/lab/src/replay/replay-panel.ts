import { Failure } from '@eloquentpoll/launch/failure';
import type { AskingOrder } from '@eloquentpoll/voting';
import { type AuditGate, crossFitted, gateOf, trackRecordOf } from './audited-polls.ts';
import { type Calibration, calibrate, forecastsOf } from './calibration.ts';
import { compareFanOuts, type FanOutFigures } from './compare-fan-outs.ts';
import { compareRules, type RuleFigures } from './compare-rules.ts';
import { makerOf } from './families.ts';
import type { NamedPanel } from './panels.ts';
import type { Prices } from './price-file.ts';
import { type RecordedPoll, recordedPolls } from './recorded-poll.ts';
import type { VoteFile } from './vote-file.ts';

export interface ReplayFigures {
  readonly name: string;
  readonly models: readonly string[];
  readonly families: number;
  readonly polls: number;
  /** Questions that a model of the panel was never asked. */
  readonly leftOut: number;
  readonly order: AskingOrder;
  /** Audited polls of the track record; null without one. */
  readonly audits: number | null;
  readonly gate: AuditGate | null;
  readonly rules: readonly RuleFigures[];
  readonly calibration: Calibration;
  readonly fanOuts: readonly FanOutFigures[];
}

export interface Replay {
  readonly file: VoteFile;
  readonly threshold: number;
  readonly order: AskingOrder;
  readonly prices: Prices | null;
  /** Votes to learn the track record from. If it is `file` itself, each poll is judged by a record of the others. */
  readonly record: VoteFile | null;
}

/** All figures of one panel. `watch` gets the number of steps; the function that it returns is called at each step. */
export async function replayPanel(
  replay: Replay,
  panel: NamedPanel,
  watch: (steps: number) => () => void,
): Promise<ReplayFigures> {
  const { file, order, threshold } = replay;
  const unjudged = recordedPolls(file, panel, replay);
  if (unjudged.length === 0) throw new Failure(`no question was put to every model of the panel ${panel.name}`);
  const { polls, audits, gate } = withRecord(replay, panel, unjudged);
  const onPoll = watch(2 * polls.length);
  return {
    name: panel.name,
    models: panel.models,
    families: new Set(panel.models.map(makerOf)).size,
    polls: polls.length,
    leftOut: file.questions.length - polls.length,
    order,
    audits,
    gate,
    rules: compareRules(polls, threshold, onPoll),
    calibration: calibrate(forecastsOf(polls)),
    fanOuts: await compareFanOuts(polls, threshold, onPoll),
  };
}

function withRecord(replay: Replay, panel: NamedPanel, polls: RecordedPoll[]) {
  const { file, record, threshold } = replay;
  if (record === null) return { polls, audits: null, gate: null };
  const panelSize = panel.models.length;
  const audited = record === file ? polls : recordedPolls(record, panel, replay);
  const learned = { audits: audited.length, gate: gateOf(audited, panelSize, threshold) };
  if (record === file) return { ...learned, polls: crossFitted(polls, panelSize) };
  const trackRecord = trackRecordOf(audited, panelSize);
  return { ...learned, polls: polls.map((poll) => ({ ...poll, record: trackRecord })) };
}
