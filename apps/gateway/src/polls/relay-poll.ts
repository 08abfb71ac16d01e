import { setTimeout as wait } from 'node:timers/promises';
import type { OnNews, Watch } from '@eloquentpoll/bus';
import type { ErrorCode, ProgressSnapshot } from '@eloquentpoll/contracts';
import { findResultOfPoll } from '@eloquentpoll/storage';
import type { Context } from '../context.ts';
import type { EventStream } from '../streams/event-stream.ts';
import { stored } from './open-session.ts';
import { completeEvent, errorEvent, progressEvent } from './stream-events.ts';
import { toPollResponse } from './to-wire.ts';

// From what a worker announces to what a stream tells. Snapshots are whole and numbered: a later one is forwarded, any
// other is not news, and one that was missed is made up for by the next. After a gap the record is read again. The end
// is what is stored, whether it was announced (the worker does that after the commit) or noticed in Postgres.

export interface Relayed {
  pollId: string;
  options: readonly string[];
  /** Number of the newest event that the reader has. */
  seq: number;
  /** False: between the first event and the last there is silence. */
  progress: boolean;
  requestId: string;
  /** When the poll has ended at the latest, by performance.now(). */
  overdueAt: number;
  /** Called when the poll ended without being run, and cost nothing. */
  givenUp?: (() => Promise<void>) | undefined;
}

export interface Relay {
  /** For the subscription. */
  hear: OnNews;
  /** Begins to forward. The watch is closed with the stream. */
  into(stream: EventStream, from: Relayed, watch: Watch | null): void;
}

const TRY_AGAIN_MS = 2_000;
const MOST_TRIES = 15;

/** Can hear from the start, so that nothing is missed between the subscription and the first event. */
export function createRelay(context: Context): Relay {
  let early: ProgressSnapshot | null | undefined;
  let forward: OnNews = (news) => {
    early = news;
  };
  return {
    hear: (news) => forward(news),
    into(stream, from, watch) {
      forward = forwarding(context, stream, from, watch);
      if (early !== undefined) forward(early);
    },
  };
}

function forwarding(context: Context, stream: EventStream, from: Relayed, watch: Watch | null): OnNews {
  const { bus, sessions, config, log } = context;
  const { pollId, options, requestId } = from;
  let { seq } = from;
  let reading = false;
  let ending = false;

  const noticed = sessions.watch(pollId, () => void finish(null));
  stream.onClose = () => {
    watch?.close();
    noticed.close();
  };
  stream.overdue = { at: from.overdueAt, tell: () => fail('poll_execution_failed', null) };

  function hear(news: ProgressSnapshot | null): void {
    if (stream.closed || ending) return;
    if (news === null) void read();
    else if (news.status !== 'running') void finish(news);
    else if (news.seq > seq) {
      seq = news.seq;
      if (from.progress) stream.send(progressEvent(pollId, options, news));
    }
  }

  /** Something may have been missed. */
  async function read(): Promise<void> {
    if (reading) return;
    reading = true;
    try {
      const state = await bus.runs.read(pollId).catch(() => null);
      if (state) hear(state.snapshot);
      else if ((await stored(context, pollId))?.status !== 'running') await finish(null);
    } catch (error) {
      // The end is looked for every two seconds anyway.
      log.warn({ pollId, err: error }, 'stream not read again');
    } finally {
      reading = false;
    }
  }

  async function finish(news: ProgressSnapshot | null): Promise<void> {
    if (ending) return;
    ending = true;
    if (news?.result && news.status === 'completed') return complete(news.result, news.seq);
    for (let tries = 0; tries < MOST_TRIES && !stream.closed; tries++) {
      try {
        const result = await findResultOfPoll(context.storage, pollId);
        if (!result) {
          await from.givenUp?.();
          return fail('poll_execution_failed', news);
        }
        if (result.status === 'failed') return fail('poll_failed', news);
        return complete(toPollResponse(result), news?.seq);
      } catch (error) {
        log.warn({ pollId, err: error }, 'end of a stream not read');
        await wait(TRY_AGAIN_MS, undefined, { ref: false });
      }
    }
    // The reader comes back with Last-Event-ID, and finds the end when Postgres is there again.
    stream.end();
  }

  function complete(result: Parameters<typeof completeEvent>[2], number = 0): void {
    stream.end(completeEvent(pollId, Math.max(number, seq + 1), result));
  }

  function fail(code: ErrorCode, news: ProgressSnapshot | null): void {
    stream.end(errorEvent(config, pollId, Math.max(news?.seq ?? 0, seq + 1), code, requestId));
  }

  return hear;
}
