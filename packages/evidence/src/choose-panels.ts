// The best panel of each size, chosen on one half of the questions and judged on the other, so that the judgement is
// not biased by the choice.

import { bestOf, type PanelFigures, panelFigures, rightAnswers } from './panel-figures.ts';
import type { AnsweredQuestion } from './voted-question.ts';

export interface Halves {
  readonly choosing: readonly AnsweredQuestion[];
  readonly judging: readonly AnsweredQuestion[];
}

/** Splits the questions alternately. */
export const halvesOf = (questions: readonly AnsweredQuestion[]): Halves => ({
  choosing: questions.filter((_, i) => i % 2 === 0),
  judging: questions.filter((_, i) => i % 2 === 1),
});

/** The figures of one panel. Its best member is also chosen on the first half. */
export const judgedPanel = ({ choosing, judging }: Halves, models: readonly number[]): PanelFigures =>
  panelFigures(judging, models, bestOf(choosing, models));

/** For each size, the best panel found by adding and swapping single models. */
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
  questions: readonly AnsweredQuestion[],
  panel: readonly number[],
  candidates: readonly number[],
): readonly number[] {
  const larger = candidates.filter((model) => !panel.includes(model)).map((model) => [...panel, model]);
  return bestPanel(questions, larger);
}

/** Swaps single members for candidates as long as that improves the panel. */
function swapped(
  questions: readonly AnsweredQuestion[],
  panel: readonly number[],
  candidates: readonly number[],
): readonly number[] {
  let best = panel;
  for (;;) {
    const outside = candidates.filter((model) => !best.includes(model));
    const neighbours = best.flatMap((_, i) => outside.map((model) => best.with(i, model)));
    const next = bestPanel(questions, [best, ...neighbours]);
    if (next === best) return best;
    best = next;
  }
}

/** The best panel; the first one if several are equal. */
function bestPanel(questions: readonly AnsweredQuestion[], panels: readonly (readonly number[])[]): readonly number[] {
  const scores = panels.map((panel) => rightAnswers(questions, panel));
  return panels[scores.indexOf(Math.max(...scores))]!;
}
