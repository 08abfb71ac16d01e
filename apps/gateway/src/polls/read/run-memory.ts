import { findSessions, type Session, type Storage } from '@eloquentpoll/storage';
import type { Logger } from '../../config/log.ts';
import { type SessionView, viewOfStored } from './run-view.ts';

// What this process knows of sessions from Postgres. An end never changes, so it is kept as long as there is room. Of
// the sessions that seem to run, those that somebody asked about or waits for are looked up every two seconds, all in
// one query: that is how an end is noticed whose announcement was lost, at a cost that does not grow with the requests.

const LOOK_AGAIN_MS = 2_000;
/** "Still running" counts this long; longer than a look takes to come round again. */
const FRESH_MS = 5_000;
const MOST_ENDED = 50_000;
const MOST_RUNNING = 20_000;
const PER_QUERY = 1_000;

/** Whoever waits for the end of a session. */
export interface Waiter {
  ended(view: SessionView): void;
}

export interface SessionMemory extends Disposable {
  ended(pollId: string): SessionView | undefined;
  /** Running, as Postgres said a moment ago. */
  running(pollId: string): SessionView | undefined;
  remember(session: Session): SessionView;
  /** Keeps an end that is known from elsewhere. */
  keep(view: SessionView): void;
  /** Somebody was told that this session runs. */
  asked(pollId: string): void;
  /** Tells once, when the end is stored. */
  watch(pollId: string, waiter: Waiter): void;
  unwatch(pollId: string, waiter: Waiter): void;
  /** Sessions that somebody waits for, for metrics and leak checks. */
  watched(): number;
}

export function sessionMemory(storage: Storage, log: Logger, lookAgainMs = LOOK_AGAIN_MS): SessionMemory {
  const ends = new Map<string, SessionView>();
  const runs = new Map<string, { view: SessionView; at: number }>();
  const watchers = new Map<string, Waiter[]>();
  let askedFor = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function keep(view: SessionView): void {
    runs.delete(view.pollId);
    bounded(ends, MOST_ENDED).set(view.pollId, view);
    const waiting = watchers.get(view.pollId);
    watchers.delete(view.pollId);
    for (const waiter of waiting ?? []) waiter.ended(view);
  }

  function remember(session: Session): SessionView {
    const view = viewOfStored(session);
    if (session.status === 'running') {
      runs.delete(view.pollId);
      bounded(runs, MOST_RUNNING).set(view.pollId, { view, at: performance.now() });
    } else keep(view);
    return view;
  }

  async function look(): Promise<void> {
    const told = askedFor;
    askedFor = new Set();
    const ids = [...new Set([...told, ...watchers.keys()])];
    try {
      for (let from = 0; from < ids.length && !closed; from += PER_QUERY) {
        for (const session of await findSessions(storage, ids.slice(from, from + PER_QUERY))) {
          if (session.status !== 'running' || told.has(session.pollId)) remember(session);
        }
      }
    } catch (error) {
      if (!closed) log.warn({ err: error, sessions: ids.length }, 'sessions not looked up');
    }
    timer = undefined;
    if (watchers.size > 0 || askedFor.size > 0) lookSoon();
  }

  function lookSoon(): void {
    if (!closed) timer ??= setTimeout(() => void look(), lookAgainMs).unref();
  }

  return {
    ended: (pollId) => ends.get(pollId),
    running(pollId) {
      const known = runs.get(pollId);
      return known && performance.now() - known.at < FRESH_MS ? known.view : undefined;
    },
    remember,
    keep,
    asked(pollId) {
      if (askedFor.size < MOST_RUNNING) askedFor.add(pollId);
      lookSoon();
    },
    watch(pollId, waiter) {
      const waiting = watchers.get(pollId);
      if (waiting) waiting.push(waiter);
      else watchers.set(pollId, [waiter]);
      lookSoon();
    },
    unwatch(pollId, waiter) {
      const waiting = watchers.get(pollId)?.filter((other) => other !== waiter) ?? [];
      if (waiting.length > 0) watchers.set(pollId, waiting);
      else watchers.delete(pollId);
    },
    watched: () => watchers.size,
    [Symbol.dispose]() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** A map with room for one more; what was put in first leaves first. */
function bounded<T>(map: Map<string, T>, most: number): Map<string, T> {
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  return map;
}
