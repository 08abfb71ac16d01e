import type { StoredPoll } from '../history.ts';
import type { Attempt, StreamEvent } from '../operations.ts';
import { askedPolls } from './asked-polls.ts';
import { CLOCK_MS, canStrike } from './can-strike.ts';
import { type CampaignRule, label } from './rule.ts';

export const streamRules: readonly CampaignRule[] = [
  {
    name: 'a stream ends with its last event, and numbers only rise',
    broken: ({ operations }) =>
      operations.flatMap((operation) => {
        if (operation.kind !== 'stream') return [];
        const wrong = streamFaults(operation.events);
        const complete = operation.outcome !== 'ok' || operation.events.some(({ last }) => last);
        return [...wrong, ...(complete ? [] : ['no last event'])].map((what) => `${label(operation)}: ${what}`);
      }),
  },
  {
    name: 'no stream ends without its last event while nothing is struck that it passes',
    broken(history) {
      const { pollsOf } = askedPolls(history);
      return history.operations.flatMap((operation) => {
        const polls = pollsOf(operation);
        return operation.attempts
          .filter((attempt) => wasCut(attempt) && !history.faults.some((fault) => canStrike(fault, attempt)))
          .filter((attempt) => !isOverdue(attempt, polls))
          .map(({ code, gateway, asked, answered }) => {
            const after = answered === null ? 'without an end' : `after ${Math.round(answered - asked)} ms`;
            return `${label(operation)}: ${code} from ${gateway} ${after}`;
          });
      });
    },
  },
];

function streamFaults(events: readonly StreamEvent[]): string[] {
  const faults: string[] = [];
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (!before) continue;
    // After the last event, a caller may ask again from the beginning.
    if (before.last && event.attempt === before.attempt) faults.push('an event after the last one');
    if (!before.last && event.seq <= before.seq) faults.push(`event ${event.seq} after ${before.seq}`);
  }
  return faults;
}

/**
 * If a poll still runs so long after its deadline, a gateway ends the stream without a last event: the poll may still
 * succeed.
 */
const GIVEN_UP_MS = 8_000;

const isOverdue = ({ answered }: Attempt, polls: readonly StoredPoll[]): boolean =>
  answered !== null &&
  polls.some(
    ({ deadlineAt, finishedAt }) =>
      answered > deadlineAt + GIVEN_UP_MS - CLOCK_MS && (finishedAt ?? Number.POSITIVE_INFINITY) > answered - CLOCK_MS,
  );

/** The stream began and had no last event. */
export const wasCut = ({ opened, status }: Attempt): boolean => opened !== null && status === null;
