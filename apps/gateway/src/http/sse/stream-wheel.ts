import type { ServerResponse } from 'node:http';
import { EventStream, type StreamObserver } from './event-stream.ts';

// All open streams of the process and their shared timer: each second a fifteenth of them get a keep-alive, and readers
// that have not read for too long are cut. When the process closes, readers reconnect to other processes.

const TICK_MS = 1_000;
/** Every stream is visited once per this many ticks. */
const TICKS = 15;
const MAX_STALLED_MS = 30_000;
const CLOSE_TIMEOUT_MS = 500;

export interface StreamWheel extends Disposable {
  /** After `leftMs`, `onOverdue` of the stream's source is called. */
  open(raw: ServerResponse, leftMs: number): EventStream;
  /** Number of open streams, for metrics and to detect leaks. */
  count(): number;
  /** Number of streams whose readers do not read. */
  blocked(): number;
  /** One turn of the timer. */
  turn(): void;
  /** Ends all streams; resolves when the last has closed, within half a second whatever the readers do. */
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

  const observer: StreamObserver = {
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
    for (const stream of blocked) if (time - (stream.blockedAt ?? time) >= MAX_STALLED_MS) stream.cut();
    tick = (tick + 1) % TICKS;
    for (const stream of slots[tick]!) {
      if (time >= stream.overdueAt) stream.source?.onOverdue();
      else stream.keepAlive();
    }
  }

  return {
    open(raw, leftMs) {
      const stream = new EventStream(raw, observer, next, now() + leftMs);
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
      for (const slot of slots) for (const stream of slot) stream.endConnection();
      const late = setTimeout(() => {
        for (const slot of slots) for (const stream of slot) stream.cut();
      }, CLOSE_TIMEOUT_MS);
      await gone;
      clearTimeout(late);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
