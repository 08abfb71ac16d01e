import type { ServerResponse } from 'node:http';
import { EventStream, type Keeper } from './event-stream.ts';

// All open streams of the process, and the one timer that they share: each second a fifteenth of them gets its sign of
// life, and whoever has not read for too long is cut. When the process leaves, all end at once; their readers come back
// elsewhere with Last-Event-ID.

const TICK_MS = 1_000;
/** Every stream is visited once in this many ticks. */
const TICKS = 15;
const MOST_STALLED_MS = 30_000;
const LAST_WORDS_MS = 500;

export interface StreamWheel extends Disposable {
  /** After `leftMs` the owner is told that it took too long. */
  open(raw: ServerResponse, leftMs: number): EventStream;
  /** Open streams, for metrics and leak checks. */
  count(): number;
  /** Those whose readers do not read. */
  blocked(): number;
  /** One turn of the timer. */
  turn(): void;
  /** Ends all streams; resolves when the last is gone, which is soon whatever their readers do. */
  close(): Promise<void>;
}

export function streamWheel(now: () => number = () => performance.now()): StreamWheel {
  const slots = Array.from({ length: TICKS }, () => new Set<EventStream>());
  const blocked = new Set<EventStream>();
  let tick = 0;
  let next = 0;
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  let allGone: (() => void) | undefined;

  const keeper: Keeper = {
    blocked(stream) {
      stream.blockedAt = now();
      blocked.add(stream);
    },
    flowing(stream) {
      stream.blockedAt = null;
      blocked.delete(stream);
    },
    closed(stream) {
      blocked.delete(stream);
      if (!slots[stream.slot]?.delete(stream)) return;
      open -= 1;
      if (open > 0) return;
      clearInterval(timer);
      timer = undefined;
      allGone?.();
    },
  };

  function turn(): void {
    const time = now();
    for (const stream of blocked) if (time - (stream.blockedAt ?? time) >= MOST_STALLED_MS) stream.cut();
    tick = (tick + 1) % TICKS;
    for (const stream of slots[tick]!) {
      if (time >= stream.overdueAt) stream.owner?.overdue();
      else stream.beat();
    }
  }

  return {
    open(raw, leftMs) {
      const stream = new EventStream(raw, keeper, next, now() + leftMs);
      slots[next]!.add(stream);
      next = (next + 1) % TICKS;
      open += 1;
      timer ??= setInterval(turn, TICK_MS).unref();
      return stream;
    },
    count: () => open,
    blocked: () => blocked.size,
    turn,
    async close() {
      if (open === 0) return;
      const gone = new Promise<void>((resolve) => {
        allGone = resolve;
      });
      for (const slot of slots) for (const stream of slot) stream.leave();
      const late = setTimeout(() => {
        for (const slot of slots) for (const stream of slot) stream.cut();
      }, LAST_WORDS_MS);
      await gone;
      clearTimeout(late);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
