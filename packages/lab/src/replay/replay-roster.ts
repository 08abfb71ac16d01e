import { type Calibration, calibrate, forecastsOf } from './calibration.ts';
import { compareFanOuts, type FanOutFigures } from './compare-fan-outs.ts';
import { compareRules, type RuleFigures } from './compare-rules.ts';
import { familyOf } from './families.ts';
import { recordedPolls } from './recorded-poll.ts';
import type { NamedRoster } from './rosters.ts';
import type { VoteFile } from './vote-file.ts';

export interface RosterFigures {
  readonly name: string;
  readonly models: readonly string[];
  readonly families: number;
  readonly polls: number;
  /** Questions that a model of the roster was never asked. */
  readonly leftOut: number;
  readonly rules: readonly RuleFigures[];
  readonly calibration: Calibration;
  readonly fanOuts: readonly FanOutFigures[];
}

export class NothingToReplay extends Error {}

/** Everything that a vote file says about one roster. `watch` hears how much there is to do, then of every step. */
export async function replayRoster(
  file: VoteFile,
  roster: NamedRoster,
  threshold: number,
  watch: (steps: number) => () => void,
): Promise<RosterFigures> {
  const polls = recordedPolls(file, roster);
  if (polls.length === 0) throw new NothingToReplay(`no question was put to every model of the roster ${roster.name}`);
  const onPoll = watch(2 * polls.length);
  return {
    name: roster.name,
    models: roster.models,
    families: new Set(roster.models.map(familyOf)).size,
    polls: polls.length,
    leftOut: file.questions.length - polls.length,
    rules: compareRules(polls, threshold, onPoll),
    calibration: calibrate(forecastsOf(polls)),
    fanOuts: await compareFanOuts(polls, threshold, onPoll),
  };
}
