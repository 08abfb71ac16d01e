import type { Attempt, StreamEvent } from '../operations.ts';
import { canStrike } from './can-strike.ts';
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
    broken: ({ operations, faults }) =>
      operations.flatMap((operation) =>
        operation.attempts
          .filter((attempt) => wasCut(attempt) && !faults.some((fault) => canStrike(fault, attempt)))
          .map(({ code, gateway, asked, answered }) => {
            const ms = Math.round((answered ?? Date.now()) - asked);
            return `${label(operation)}: ${code} from ${gateway} after ${ms} ms`;
          }),
      ),
  },
];

function streamFaults(events: readonly StreamEvent[]): string[] {
  const faults: string[] = [];
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (!before) continue;
    // After its last event a caller may ask once more, from the beginning.
    if (before.last && event.attempt === before.attempt) faults.push('an event after the last one');
    if (!before.last && event.seq <= before.seq) faults.push(`event ${event.seq} after ${before.seq}`);
  }
  return faults;
}

/** It had begun, and came to no end. */
export const wasCut = ({ opened, status }: Attempt): boolean => opened !== null && status === null;
