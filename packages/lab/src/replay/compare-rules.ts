// Every stopping rule over the same recorded polls, one vote after the other, against asking the full panel.
import { addStop, noStops, type StopShares, savedOf, stopShares } from '@eloquentpoll/evidence';
import { type PollState, standing, statesAfter } from '@eloquentpoll/voting';
import { openPoll, type RecordedPoll } from './recorded-poll.ts';
import { type StoppingRule, stoppingRules } from './stopping-rules.ts';

export interface RuleFigures extends StopShares {
  readonly rule: string;
  /** Share of the price of a full panel; null where no prices are known. */
  readonly dollarsSaved: number | null;
}

/** States of one poll after 0, 1, ... all votes. */
export function courseOf(recorded: RecordedPoll, threshold: number): PollState[] {
  const start = openPoll(recorded, threshold);
  const votes = recorded.votes.map((option, seat) => ({ seat, option, billedU: 0n }));
  return [start, ...statesAfter(start, votes)];
}

export const winnerOf = (poll: PollState): number | null => standing(poll).leader;

/** What the first `calls` models cost. */
export const priceOfCalls = ({ prices }: RecordedPoll, calls?: number): number =>
  (prices ?? []).slice(0, calls).reduce((sum, price) => sum + price, 0);

export function compareRules(polls: readonly RecordedPoll[], threshold: number, onPoll: () => void): RuleFigures[] {
  const counts = stoppingRules(threshold).map((rule) => ({ rule, sums: noStops() }));
  let fullPrice = 0;
  for (const recorded of polls) {
    const course = courseOf(recorded, threshold);
    const elected = winnerOf(course.at(-1)!);
    fullPrice += priceOfCalls(recorded);
    for (const { rule, sums } of counts) {
      const calls = callsUntilStop(rule, course, recorded.votes);
      addStop(sums, {
        ...{ panelSize: recorded.votes.length, calls, cost: priceOfCalls(recorded, calls) },
        ...{ winner: winnerOf(course[calls]!), elected, answer: recorded.question.answer },
      });
    }
    onPoll();
  }
  return counts.map(({ rule, sums }) => ({
    ...{ rule: rule.name, ...stopShares(sums), dollarsSaved: savedOf(sums.cost, fullPrice) },
  }));
}

function callsUntilStop(rule: StoppingRule, course: readonly PollState[], votes: RecordedPoll['votes']): number {
  for (let calls = 1; calls < votes.length; calls++)
    if (rule.stops({ poll: course[calls]!, votes: votes.slice(0, calls) })) return calls;
  return votes.length;
}
