import { Failure } from '@eloquentpoll/launch/failure';
import { type Calibration, calibrate, forecastsOf } from './calibration.ts';
import { compareFanOuts, type FanOutFigures } from './compare-fan-outs.ts';
import { compareRules, type RuleFigures } from './compare-rules.ts';
import { familyOf } from './families.ts';
import type { NamedPanel } from './panels.ts';
import { recordedPolls } from './recorded-poll.ts';
import type { VoteFile } from './vote-file.ts';

export interface PanelFigures {
  readonly name: string;
  readonly models: readonly string[];
  readonly families: number;
  readonly polls: number;
  /** Questions that a model of the panel was never asked. */
  readonly leftOut: number;
  readonly rules: readonly RuleFigures[];
  readonly calibration: Calibration;
  readonly fanOuts: readonly FanOutFigures[];
}

/** Everything that a vote file says about one panel. `watch` hears how much there is to do, then of every step. */
export async function replayPanel(
  file: VoteFile,
  panel: NamedPanel,
  threshold: number,
  watch: (steps: number) => () => void,
): Promise<PanelFigures> {
  const polls = recordedPolls(file, panel);
  if (polls.length === 0) throw new Failure(`no question was put to every model of the panel ${panel.name}`);
  const onPoll = watch(2 * polls.length);
  return {
    name: panel.name,
    models: panel.models,
    families: new Set(panel.models.map(familyOf)).size,
    polls: polls.length,
    leftOut: file.questions.length - polls.length,
    rules: compareRules(polls, threshold, onPoll),
    calibration: calibrate(forecastsOf(polls)),
    fanOuts: await compareFanOuts(polls, threshold, onPoll),
  };
}
