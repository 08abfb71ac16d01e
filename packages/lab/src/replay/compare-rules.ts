// Every stopping rule over the same recorded polls, one vote after the other, against asking the full panel.
import { type PollState, received, standing } from '@eloquentpoll/voting';
import { openPoll, type RecordedPoll } from './recorded-poll.ts';
import { type StoppingRule, stoppingRules } from './stopping-rules.ts';

export interface RuleFigures {
  readonly rule: string;
  /** Share of the calls of a full panel. */
  readonly callsSaved: number;
  /** Share of the price of a full panel; null where no prices are known. */
  readonly dollarsSaved: number | null;
  /** Share of the early stops whose winner is not the one that the full panel elects. */
  readonly wrongStops: number;
  /** Share of all polls that stopped early. */
  readonly stoppedEarly: number;
  /** Share of all polls with the outcome of the full panel, ties included. */
  readonly agreement: number;
  /** Share of all polls whose winner is the right answer. */
  readonly accuracy: number;
}

/** States of one poll after 0, 1, ... all votes. */
export function courseOf(recorded: RecordedPoll, threshold: number): PollState[] {
  const states = [openPoll(recorded, threshold)];
  for (const [seat, option] of recorded.votes.entries())
    states.push(received(states.at(-1)!, { seat, option, billedU: 0n }));
  return states;
}

export const winnerOf = (poll: PollState): number | null => standing(poll).leader;

/** What the first `calls` models cost. */
export const priceOfCalls = ({ prices }: RecordedPoll, calls?: number): number =>
  (prices ?? []).slice(0, calls).reduce((sum, price) => sum + price, 0);

export function compareRules(polls: readonly RecordedPoll[], threshold: number, onPoll: () => void): RuleFigures[] {
  const counts = stoppingRules(threshold).map((rule) => ({
    ...{ rule, calls: 0, price: 0, early: 0, wrong: 0, agreed: 0, right: 0 },
  }));
  const full = { calls: 0, price: 0 };
  for (const recorded of polls) {
    const course = courseOf(recorded, threshold);
    const elected = winnerOf(course.at(-1)!);
    full.calls += recorded.votes.length;
    full.price += priceOfCalls(recorded);
    for (const count of counts) {
      const calls = callsUntilStop(count.rule, course, recorded.votes);
      const winner = winnerOf(course[calls]!);
      const early = calls < recorded.votes.length;
      count.calls += calls;
      count.price += priceOfCalls(recorded, calls);
      count.early += Number(early);
      count.wrong += Number(early && winner !== elected);
      count.agreed += Number(winner === elected);
      count.right += Number(winner === recorded.question.answer);
    }
    onPoll();
  }
  return counts.map(({ rule, calls, price, early, wrong, agreed, right }) => ({
    rule: rule.name,
    callsSaved: (full.calls - calls) / full.calls,
    dollarsSaved: full.price > 0 ? (full.price - price) / full.price : null,
    wrongStops: early === 0 ? 0 : wrong / early,
    stoppedEarly: early / polls.length,
    agreement: agreed / polls.length,
    accuracy: right / polls.length,
  }));
}

function callsUntilStop(rule: StoppingRule, course: readonly PollState[], votes: RecordedPoll['votes']): number {
  for (let calls = 1; calls < votes.length; calls++)
    if (rule.stops({ poll: course[calls]!, votes: votes.slice(0, calls) })) return calls;
  return votes.length;
}
