import { asPercent, tableLines } from '../terminal/table.ts';
import { liveOperation, type PhaseFigures } from './live-operation.ts';
import { livePhases } from './live-phases.ts';
import type { NamedPanel } from './panels.ts';
import type { Prices } from './price-file.ts';
import type { VoteFile } from './vote-file.ts';

export interface LiveFigures {
  readonly name: string;
  readonly phases: readonly PhaseFigures[];
}

export const playLive = (file: VoteFile, panel: NamedPanel, prices: Prices, polls: number): LiveFigures => ({
  name: panel.name,
  phases: liveOperation(file, panel, prices, livePhases(file, polls), `live ${panel.name}`),
});

export function liveReport(panels: readonly LiveFigures[]): string {
  const rows = panels.flatMap(({ name, phases }) =>
    phases.map((phase) => [
      name,
      phase.name,
      String(phase.polls),
      String(phase.audits),
      asPercent(phase.cheapest),
      asPercent(phase.dollarsSaved),
      asPercent(phase.wrongStops, 2),
      phase.openedAfter === null ? '-' : String(phase.openedAfter),
      phase.alarmedAfter === null ? '-' : String(phase.alarmedAfter),
      `${phase.covered} of ${phase.published.length}`,
    ]),
  );
  const all = panels.flatMap(({ phases }) => phases);
  const [covered, bands] = [sum(all.map((phase) => phase.covered)), sum(all.map((phase) => phase.published.length))];
  const head = ['panel', 'phase', 'polls', 'audits', 'cheapest first', 'dollars saved', 'wrong stops'];
  return [
    ...tableLines([...head, 'gate open at', 'alarm at', 'bands covered'], rows, [0, 1]),
    '',
    `published intervals that hold what came true: ${covered} of ${bands} (${asPercent(covered / Math.max(1, bands))})`,
    '',
  ].join('\n');
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
