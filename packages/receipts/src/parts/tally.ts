import { conclude } from '@eloquentpoll/voting/conclude';
import { fails, holds, type PartState } from '../part.ts';
import type { Statement } from '../receipt.ts';
import type { ReplayedPoll } from './replayed.ts';

/** Checks that the votes add up to the tally, and that winner, tie and status follow from it. */
export function checkTally({ options, decision }: Statement, { last }: ReplayedPoll): PartState {
  const { tally, winner, isTie, status, skipped } = conclude(last, decision);
  if (tally.join() !== decision.tally.join())
    return fails(`The votes add up to ${tally.join(', ')}, not ${decision.tally.join(', ')}.`);
  const named = (option: number | null) => (option === null ? 'no winner' : JSON.stringify(options[option] ?? null));
  if (winner !== decision.winner) return fails(`These votes make ${named(winner)}, not ${named(decision.winner)}.`);
  if (isTie !== decision.tie) return fails(isTie ? 'These votes are a tie.' : 'These votes are no tie.');
  if (skipped !== decision.skipped) return fails(`${skipped} models were not heard, not ${decision.skipped}.`);
  if (status !== decision.status) return fails(`The status of this poll is ${status}, not ${decision.status}.`);
  return holds('The votes add up to the tally, and to its winner.');
}
