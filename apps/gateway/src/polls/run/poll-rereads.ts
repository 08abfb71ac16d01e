import { findRunStates, type Storage } from '@eloquentpoll/storage';
import type { Logger } from '../../config/log.ts';
import type { RunCache } from '../read/run-cache.ts';
import type { RunView } from '../read/run-view.ts';

// Every two seconds one query reads all polls that are followed or were asked about. This finds ends whose announcement
// was lost, at a cost that does not grow with the number of requests.

export const REREAD_MS = 2_000;
const MAX_SCHEDULED = 20_000;
const POLLS_PER_QUERY = 1_000;

export interface EndListener {
  endedInPostgres(run: RunView): void;
}

export interface PollRereads extends Disposable {
  /** Rereads the poll until the listener is removed; its end is passed to the listener. */
  add(pollId: string, listener: EndListener): void;
  remove(pollId: string, listener: EndListener): void;
  /** Reads the poll once and stores it in the cache. */
  schedule(pollId: string): void;
  /** Number of polls that are followed, to detect leaks. */
  followed(): number;
}

interface Parts {
  storage: Storage;
  runs: RunCache;
  log: Logger;
}

export function pollRereads({ storage, runs, log }: Parts, everyMs = REREAD_MS): PollRereads {
  const followed = new Map<string, EndListener[]>();
  let scheduled = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function read(): Promise<void> {
    const once = scheduled;
    scheduled = new Set();
    const pollIds = [...new Set([...once, ...followed.keys()])];
    try {
      for (let from = 0; from < pollIds.length && !closed; from += POLLS_PER_QUERY) {
        for (const row of await findRunStates(storage, pollIds.slice(from, from + POLLS_PER_QUERY))) {
          if (row.status !== 'running') notify(runs.store(row));
          else if (once.has(row.pollId)) runs.store(row);
        }
      }
    } catch (error) {
      if (!closed) log.warn({ err: error, polls: pollIds.length }, 'polls.reread_failed');
    }
    timer = undefined;
    if (followed.size > 0 || scheduled.size > 0) startTimer();
  }

  function notify(run: RunView): void {
    // Copied, because a listener removes itself when it gets the end.
    for (const listener of [...(followed.get(run.pollId) ?? [])]) listener.endedInPostgres(run);
  }

  function startTimer(): void {
    if (!closed) timer ??= setTimeout(() => void read(), everyMs).unref();
  }

  return {
    add(pollId, listener) {
      const listeners = followed.get(pollId);
      if (listeners) listeners.push(listener);
      else followed.set(pollId, [listener]);
      startTimer();
    },
    remove(pollId, listener) {
      const others = followed.get(pollId)?.filter((other) => other !== listener) ?? [];
      if (others.length > 0) followed.set(pollId, others);
      else followed.delete(pollId);
    },
    schedule(pollId) {
      if (scheduled.size < MAX_SCHEDULED) scheduled.add(pollId);
      startTimer();
    },
    followed: () => followed.size,
    [Symbol.dispose]() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
