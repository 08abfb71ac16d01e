import type { PanelName } from '@eloquentpoll/contracts';
import { type AnswerSums, addGoldPoll, noAnswers, noPanel, type PanelSums } from '@eloquentpoll/evidence';
import type { JudgedRow } from './gold-poll-of.ts';

/** The sums over the rows counted so far. Plain JSON of bounded size. */
export interface ReportSums {
  readonly all: AnswerSums;
  readonly panels: Partial<Record<PanelName, PanelSums>>;
  /** Which rows each panel was asked. Undefined in sums that an earlier release began. */
  readonly asked?: Partial<Record<PanelName, AskedRows>>;
  withoutGold: number;
  notJudged: number;
  simulated: boolean;
}

/** The sum of the rows' hashes. Two panels with as many rows and the same sum were asked the same rows. */
export interface AskedRows {
  readonly rows: number;
  readonly hash: number;
}

const HASHES = 2 ** 48;

/** The panels that were asked the same rows as this one, which is among them. Only itself if its rows are unknown. */
export function askedTheSame({ panels, asked }: ReportSums, panel: PanelName): Set<PanelName> {
  const own = asked?.[panel];
  const others = Object.entries(asked ?? {}) as [PanelName, AskedRows][];
  // An earlier release may have added rows without noting which.
  const isKnown = (name: PanelName, { rows }: AskedRows) => rows === panels[name]?.stops.polls;
  if (own === undefined || !isKnown(panel, own)) return new Set([panel]);
  const same = others.filter(([name, all]) => isKnown(name, all) && all.rows === own.rows && all.hash === own.hash);
  return new Set(same.map(([name]) => name));
}

export const noRows = (): ReportSums => ({
  ...{ all: noAnswers(), panels: {}, asked: {}, withoutGold: 0, notJudged: 0, simulated: false },
});

export function addJudged(sums: ReportSums, { spec, rowHash, poll }: JudgedRow): void {
  const { panel_name: panelName, simulated } = spec;
  const panel = sums.panels[panelName] ?? noPanel();
  sums.panels[panelName] = panel;
  if (sums.asked) {
    const { rows, hash } = sums.asked[panelName] ?? { rows: 0, hash: 0 };
    sums.asked[panelName] = { rows: rows + 1, hash: (hash + rowHash) % HASHES };
  }
  sums.simulated ||= simulated;
  addGoldPoll(panel, sums.all, poll);
}
