import { EloquentPollError } from '../eloquentpoll.ts';

// Reads what the service sends, with a bound in time and in size.

/** The service sends a keep-alive every 15 s while it sends events. */
const SILENCE_MS = 60_000;
const MAX_CHARACTERS = 16 * 2 ** 20;

/** Aborts with the host, or if nothing is heard for too long: a connection that was cut may look open. */
export function watchSilence(host: AbortSignal, leftMs: number) {
  const inner = new AbortController();
  const endsAt = performance.now() + leftMs;
  const leave = () => inner.abort(host.reason);
  host.addEventListener('abort', leave, { once: true });
  if (host.aborted) leave();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    const ms = Math.max(0, Math.min(SILENCE_MS, Math.ceil(endsAt - performance.now())));
    const late = `there was no answer within ${Math.ceil((ms === SILENCE_MS ? ms : leftMs) / 1_000)} s`;
    timer = setTimeout(() => inner.abort(late), ms);
  };
  heard();
  return {
    signal: inner.signal,
    heard,
    end() {
      clearTimeout(timer);
      host.removeEventListener('abort', leave);
      // Closes a connection whose body was not read to its end.
      inner.abort();
    },
  };
}

export async function* piecesInTime({ body }: Response, heard: () => void): AsyncGenerator<string, void> {
  if (!body) return;
  const pieces: AsyncIterable<string> = body.pipeThrough(new TextDecoderStream());
  for await (const piece of pieces) {
    heard();
    yield piece;
  }
}

export async function textInTime(response: Response, heard: () => void): Promise<string> {
  let text = '';
  for await (const piece of piecesInTime(response, heard)) {
    text += piece;
    if (text.length > MAX_CHARACTERS) throw new EloquentPollError('The answer is too long.', { code: 'bad_response' });
  }
  return text;
}
