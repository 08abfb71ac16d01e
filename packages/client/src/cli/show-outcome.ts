import { type Exit, exitOfOutcome } from './exit-codes.ts';
import { COLOUR, NO_COLOUR, picture, votesFor } from './picture.ts';
import { plain } from './plain-text.ts';
import { details, outcomeSentence, type ShownOutcome } from './summary.ts';
import { canDraw, print, type Terminal } from './terminal.ts';

/** Prints a finished poll: as JSON, as bars, or as lines of which the first holds the outcome. */
export function showOutcome(outcome: ShownOutcome, terminal: Terminal, json: boolean): Exit {
  const { out, env } = terminal;
  const { options, tally, winning_option: leader, votes, models_skipped, question } = outcome;
  if (json) print(out, JSON.stringify(outcome));
  else if (canDraw(terminal)) {
    const total = votes.length + models_skipped;
    const foot = [outcomeSentence(outcome), ...details(outcome)];
    const scene = { question, options, tally, total, leader, foot };
    print(out, ...picture(scene, out.columns || 80, env.NO_COLOR ? NO_COLOUR : COLOUR));
  } else {
    const counts = options.map((option) => `${String(votesFor(tally, option)).padStart(4)}  ${plain(option)}`);
    print(out, outcomeSentence(outcome), ...counts, ...details(outcome));
  }
  return exitOfOutcome(outcome);
}
