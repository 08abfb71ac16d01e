import { ERRORS } from '@eloquentpoll/contracts';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import type { KeptAnswer, RecordedOperation, Recorder } from './operations.ts';
import { type CallerRequest, type Gateway, keptRequestOf, lossOf, read, send } from './request.ts';

// Follows one connection of a stream and records its events, until the last event or a broken connection.

export interface StreamEnding {
  /** The kind of the last event, if there was one; `data` is without fields that only the event has. */
  kind: 'complete' | 'error' | null;
  data: Record<string, unknown>;
  /** The answer received instead of a stream, or the answer that its error event corresponds to. */
  refusal: KeptAnswer | null;
}

const CUT: StreamEnding = { kind: null, data: {}, refusal: null };
/** Longer than the keep-alive interval of 15 s. */
const SILENCE_MS = 22_000;
/** A gateway ends the stream with its last event: so long is waited for the end, and for events that must not come. */
const AFTER_LAST_MS = 1_000;

export async function followStream(
  recorder: Recorder,
  operation: RecordedOperation,
  gateway: Gateway,
  sent: CallerRequest,
  onId: (id: string) => void,
): Promise<StreamEnding> {
  const attempt = recorder.attempt(operation, keptRequestOf(gateway, sent));
  const number = operation.attempts.length;
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), sent.withinMs);
  let ending: StreamEnding | null = null;
  try {
    const response = await send(gateway, sent, silence.signal);
    if (response.status !== 200 || !response.body) {
      const refusal = read(response, await response.text());
      recorder.answered(operation, attempt, refusal);
      return { ...CUT, refusal };
    }
    attempt.opened = Date.now();
    let text = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), ending ? AFTER_LAST_MS : SILENCE_MS);
      text += piece;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const event = eventOf(text.slice(0, end));
        text = text.slice(end + 2);
        if (!event) continue;
        const last = event.kind !== 'started';
        operation.events.push({ attempt: number, seq: event.seq, last });
        operation.named.add(event.pollId);
        onId(event.id);
        if (!last || ending) continue;
        const answer = event.kind === 'complete' ? COMPLETE : answerIn(event.data);
        recorder.answered(operation, attempt, answer);
        ending =
          answer === COMPLETE
            ? { kind: 'complete', data: event.data, refusal: null }
            : { kind: 'error', data: event.data, refusal: answer };
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), AFTER_LAST_MS);
      }
    }
    if (ending) return ending;
    recorder.lost(operation, attempt, 'cut');
    return CUT;
  } catch (error) {
    if (ending) return ending;
    recorder.lost(operation, attempt, lossOf(error));
    return CUT;
  } finally {
    clearTimeout(timer);
  }
}

const COMPLETE: KeptAnswer = { status: 200, code: null, retryAfterS: null };

/** The answer that corresponds to an error event. A code that is not in the catalogue is a bug of the gateway. */
function answerIn({ code }: Record<string, unknown>): KeptAnswer {
  const name = String(code ?? 'none');
  const known: Record<string, { status: number }> = ERRORS;
  return { status: known[name]?.status ?? 500, code: name, retryAfterS: null };
}

const EventData = Type.Record(Type.String(), Type.Unknown());

function eventOf(block: string) {
  const fields = new Map(
    block.split('\n').flatMap((line) => {
      const at = line.indexOf(': ');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 2)] as const] : [];
    }),
  );
  const [id, kind, json] = [fields.get('id'), fields.get('event'), fields.get('data')];
  if (id === undefined || kind === undefined || json === undefined) return null;
  const { seq: _seq, session_id: _session, ...data } = readJson(EventData, json);
  const [pollId = '', seq = ''] = id.split(':');
  return { id, kind, pollId, seq: Number(seq), data };
}
