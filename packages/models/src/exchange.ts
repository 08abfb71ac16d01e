import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

// One request and its whole reply over a pool, without streams or Response objects. Seven of these are nearly all of a
// poll's CPU cost, and each layer above the socket would cost as much again. Settles at once when its signal aborts,
// whatever the connection does.

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** How far the exchange had come when it failed. */
export interface Exchanging {
  now(): number;
  /** When it had a connection and began to be written. Null before. */
  startedAt: number | null;
  onStart?(): void;
  /** The head of the reply has arrived. */
  answered: boolean;
}

export function exchange(
  pool: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  seen: Exchanging,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];

    const settle = (): void => signal.removeEventListener('abort', giveUp);
    function giveUp(): void {
      const reason = new Error('no longer wanted');
      settle();
      reject(reason);
      // Without a controller, the request still waits for a connection, and is dropped when it gets one.
      controller?.abort(reason);
    }
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp);

    pool.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted) return started.abort(new Error('no longer wanted'));
        seen.startedAt = seen.now();
        seen.onStart?.();
      },
      onResponseStart(_controller, statusCode, replyHeaders) {
        // An informational response is followed by the real one.
        if (statusCode < 200) return;
        seen.answered = true;
        status = statusCode;
        headers = replyHeaders;
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        settle();
        resolve({ status, headers, text: textOf(chunks) });
      },
      onResponseError(_controller, error) {
        settle();
        reject(error);
      },
    });
  });
}

/** Like a text decoder: a byte order mark at the beginning is removed. */
function textOf(chunks: readonly Buffer[]): string {
  const text = chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
