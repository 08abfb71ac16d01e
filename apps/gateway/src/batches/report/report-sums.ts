import type { PanelName } from '@eloquentpoll/contracts';
import {
  type AnswerSums,
  addGoldPoll,
  type GoldPoll,
  noAnswers,
  noPanel,
  type PanelSums,
} from '@eloquentpoll/evidence';

/** The sums over the rows counted so far. Plain JSON of bounded size. */
export interface ReportSums {
  readonly all: AnswerSums;
  readonly panels: Partial<Record<PanelName, PanelSums>>;
  withoutGold: number;
  notJudged: number;
  simulated: boolean;
}

export const noRows = (): ReportSums => ({
  ...{ all: noAnswers(), panels: {}, withoutGold: 0, notJudged: 0, simulated: false },
});

export function addJudged(sums: ReportSums, panelName: PanelName, simulated: boolean, poll: GoldPoll): void {
  const panel = sums.panels[panelName] ?? noPanel();
  sums.panels[panelName] = panel;
  sums.simulated ||= simulated;
  addGoldPoll(panel, sums.all, poll);
}
