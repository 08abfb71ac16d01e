import { oddsView } from './odds-view.ts';
import type { PollPicture } from './poll-picture.ts';
import { recentPolls, rememberPoll } from './recent-polls.ts';
import { offerVerification } from './verify-receipt.ts';

// The script of the result page: the chart reacts to pointer and keys, the receipt can be verified, and polls of the
// same question on this device are counted.

for (const place of document.querySelectorAll<HTMLElement>('[data-odds]'))
  oddsView(place).show(JSON.parse(place.dataset.odds!) as PollPicture);

for (const card of document.querySelectorAll<HTMLElement>('[data-receipt]')) offerVerification(card);

const same = document.querySelector<HTMLElement>('[data-same-question]');
if (same) countSameQuestion(same);

function countSameQuestion(place: HTMLElement): void {
  const mine = recentPolls().find(({ url }) => url === location.pathname);
  if (!mine) return;
  rememberPoll({ ...mine, winner: place.dataset.winner ?? null });
  const key = keyOf(mine);
  const together = recentPolls().filter((poll) => poll.winner !== undefined && keyOf(poll) === key);
  if (together.length < 2) return;
  const counts = Map.groupBy(together, ({ winner }) => winner ?? 'no winner');
  const said = [...counts]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([winner, polls]) => `${winner} ${polls.length}`);
  place.textContent = `Same question, asked ${together.length} times on this device: ${said.join(', ')}.`;
  place.hidden = false;
}

/** The same options in another order count as the same question. */
function keyOf({ question, options }: { question: string; options: readonly string[] }): string {
  return JSON.stringify([question.trim(), [...options].toSorted()]);
}
