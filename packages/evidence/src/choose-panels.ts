// The best panels by size, chosen on one half of the questions and judged on the other, so that the choice does not
// flatter itself.
import type { Ballot } from './ballot.ts';
import { bestOf, type PanelFigures, panelFigures, rightAnswers } from './panel-figures.ts';

export interface Halves {
  readonly choosing: readonly Required<Ballot>[];
  readonly judging: readonly Required<Ballot>[];
}

/** Every other question. */
export const halvesOf = (ballots: readonly Required<Ballot>[]): Halves => ({
  choosing: ballots.filter((_, i) => i % 2 === 0),
  judging: ballots.filter((_, i) => i % 2 === 1),
});

/** The figures of one panel; its best member is chosen on the first half, too. */
export const judgedPanel = ({ choosing, judging }: Halves, models: readonly number[]): PanelFigures =>
  panelFigures(judging, models, bestOf(choosing, models));

/** For each size the best panel that adding and swapping single models finds. */
export function choosePanels(halves: Halves, candidates: readonly number[], sizes: readonly number[]): PanelFigures[] {
  const panels = new Map<number, readonly number[]>();
  let panel: readonly number[] = [];
  for (let size = 1; size <= Math.min(Math.max(...sizes), candidates.length); size++) {
    panel = swapped(halves.choosing, added(halves.choosing, panel, candidates), candidates);
    panels.set(size, panel);
  }
  return sizes.flatMap((size) => {
    const chosen = panels.get(size);
    return chosen === undefined ? [] : [judgedPanel(halves, chosen)];
  });
}

function added(
  ballots: readonly Required<Ballot>[],
  panel: readonly number[],
  candidates: readonly number[],
): readonly number[] {
  const larger = candidates.filter((model) => !panel.includes(model)).map((model) => [...panel, model]);
  return bestPanel(ballots, larger);
}

/** Swaps one member for one candidate while that helps. */
function swapped(
  ballots: readonly Required<Ballot>[],
  panel: readonly number[],
  candidates: readonly number[],
): readonly number[] {
  let best = panel;
  for (;;) {
    const outside = candidates.filter((model) => !best.includes(model));
    const neighbours = best.flatMap((_, i) => outside.map((model) => best.with(i, model)));
    const next = bestPanel(ballots, [best, ...neighbours]);
    if (next === best) return best;
    best = next;
  }
}

/** The first of the best. */
function bestPanel(ballots: readonly Required<Ballot>[], panels: readonly (readonly number[])[]): readonly number[] {
  const scores = panels.map((panel) => rightAnswers(ballots, panel));
  return panels[scores.indexOf(Math.max(...scores))]!;
}
