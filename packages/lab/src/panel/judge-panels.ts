// Judges panels by recorded votes: the best panel of each size, and existing panels, each against its best member.
import {
  choosePanels,
  halvesOf,
  isBelowItsBest,
  judgedPanel,
  type PanelFigures,
  type ReadingFigures,
  readingFigures,
} from '@eloquentpoll/evidence';
import { Failure } from '@eloquentpoll/launch/failure';
import { type NamedPanel, PANELS } from '../replay/panels.ts';
import type { Prices } from '../replay/price-file.ts';
import type { VoteFile } from '../replay/vote-file.ts';

export interface JudgedPanel {
  readonly name: string;
  readonly models: readonly string[];
  readonly bestMember: string;
  readonly figures: PanelFigures;
  /** Null where there are too few questions to learn from. */
  readonly reading: ReadingFigures | null;
  /** Price of asking the whole panel once, and its best member alone, in milli-dollars; null without prices. */
  readonly price: number | null;
  readonly bestMemberPrice: number | null;
  readonly isBelowItsBest: boolean;
}

export interface PanelSearch {
  readonly file: VoteFile;
  readonly prices: Prices | null;
  readonly sizes: readonly number[];
  /** Panels to judge beside those that are searched for. */
  readonly named: readonly NamedPanel[];
}

export function judgePanels({ file, prices, sizes, named }: PanelSearch): JudgedPanel[] {
  const candidates = [...file.models.keys()].filter((model) => prices === null || prices.has(file.models[model]!));
  const namedModels = named.map(({ models }) => models.map((model) => file.models.indexOf(model)));
  const needed = new Set([...candidates, ...namedModels.flat()]);
  const questions = file.questions.flatMap(({ optionCount, answer, votes }) =>
    [...needed].every((model) => votes[model] !== undefined) ? [{ optionCount, answer, votes }] : [],
  );
  if (questions.length < 2 || candidates.length === 0) throw new Failure('no question was put to every model');
  const halves = halvesOf(questions);
  const judged = (name: string, figures: PanelFigures): JudgedPanel => {
    const models = figures.models.map((model) => file.models[model]!);
    const bestMember = file.models[figures.bestMember]!;
    return {
      ...{ name, models, bestMember, figures },
      reading: readingFigures(halves, figures.models, figures.bestMember),
      price: priceOf(models, prices),
      bestMemberPrice: priceOf([bestMember], prices),
      isBelowItsBest: isBelowItsBest(figures),
    };
  };
  return [
    ...choosePanels(halves, candidates, sizes).map((figures) => judged(`best ${figures.models.length}`, figures)),
    ...named.map(({ name }, i) => judged(name, judgedPanel(halves, namedModels[i]!))),
  ];
}

/** The panels of the published figures whose models are all in the file. */
export const knownPanels = (file: VoteFile): NamedPanel[] =>
  Object.entries(PANELS).flatMap(([name, models]) =>
    models.every((model) => file.models.includes(model)) ? [{ name, models }] : [],
  );

function priceOf(models: readonly string[], prices: Prices | null): number | null {
  const each = models.map((model) => prices?.get(model));
  return each.reduce<number | null>((sum, price) => (sum === null || price === undefined ? null : sum + price), 0);
}
