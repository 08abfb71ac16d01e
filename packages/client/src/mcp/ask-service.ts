import { createSseParser, EloquentPollError } from '../eloquentpoll.ts';
import { causeOf, isUnconnected } from '../fetch-failure.ts';
import { type HostMessage, isAnswerTo, isRequest, messageIn, objectOr } from './host-message.ts';
import { piecesInTime, textInTime, watchSilence } from './read-in-time.ts';

// Sends one message to the service once, and reads what comes back.

export interface SentMessage {
  message: HostMessage;
  /** The message as the host wrote it. */
  body: string;
  headers: Record<string, string>;
  /** Aborts when the host cancels the call. */
  signal: AbortSignal;
  /** The time left for the answer. */
  leftMs: number;
}

export interface ServiceAnswer {
  answer?: HostMessage;
  /** Why there is no answer. Without both, none is due. */
  why?: string;
  /** The error of the service, with its code and what to do about it. */
  data?: object;
  /** Whether the same request may get another answer later. */
  isPassing?: boolean;
  /** Whether a poll may have been made whose end is not known. */
  leavesPoll?: boolean;
  /** Whether certainly nothing was sent, because there was no connection. */
  isUnsent?: boolean;
  retryAfterMs?: number;
}

/** `relay` gets what comes before the answer, such as progress. */
export async function askService(
  address: URL,
  sent: SentMessage,
  relay: (message: HostMessage) => void,
): Promise<ServiceAnswer> {
  const { body, headers, signal } = sent;
  const watch = watchSilence(signal, sent.leftMs);
  try {
    // A redirect that is followed loses the key.
    const init = { method: 'POST', headers, body, signal: watch.signal, redirect: 'manual' } as const;
    const response = await fetch(address, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    return isStream
      ? await readEvents(response, sent.message, relay, watch.heard)
      : readAnswer(response, await textInTime(response, watch.heard), sent.message, relay);
  } catch (error) {
    if (signal.aborted) return {};
    if (error instanceof EloquentPollError) return { why: error.message, leavesPoll: true };
    const reason = watch.signal.aborted ? String(watch.signal.reason) : reasonOf(error);
    const why = `The service at ${address.origin} cannot be reached: ${reason.replace(/\.$/, '')}.`;
    const isUnsent = isUnconnected(error);
    return { why, isPassing: true, isUnsent, leavesPoll: !isUnsent };
  } finally {
    watch.end();
  }
}

async function readEvents(
  response: Response,
  asked: HostMessage,
  relay: (message: HostMessage) => void,
  heard: () => void,
): Promise<ServiceAnswer> {
  const parse = createSseParser();
  for await (const piece of piecesInTime(response, heard)) {
    for (const { data } of parse(piece)) {
      const message = messageIn(data);
      if (message && isAnswerTo(asked, message)) return judged(message, response);
      if (message) relay(message);
    }
  }
  return isRequest(asked) ? { why: 'The answer of the service broke off.', isPassing: true, leavesPoll: true } : {};
}

function readAnswer(
  response: Response,
  text: string,
  asked: HostMessage,
  relay: (message: HostMessage) => void,
): ServiceAnswer {
  const found = messageIn(text);
  if (found?.jsonrpc === '2.0') {
    // An error of a message that could not be read has no id.
    const own = { ...found, ...(asked.id !== undefined && { id: found.id ?? asked.id }) };
    if (isRequest(asked) && isAnswerTo(asked, own)) return judged(own, response);
    relay(own);
    return isRequest(asked) ? { why: 'The service answered something else.', leavesPoll: true } : {};
  }
  if (!response.ok) return refused(response, found);
  if (!isRequest(asked)) return {};
  const why = `What answered at ${new URL(response.url).origin} is no MCP server: ${response.status} without JSON-RPC.`;
  return { why, leavesPoll: true };
}

/** What an answer of the service itself says about trying again. */
function judged(answer: HostMessage, response: Response): ServiceAnswer {
  const { retryable, session_id, ...problem } = problemOf(answer);
  const isPassing = retryable === true;
  return {
    answer,
    isPassing,
    leavesPoll: isPassing && typeof session_id === 'string',
    retryAfterMs: 1_000 * (secondsIn(response) ?? secondsOf(problem.recovery)),
  };
}

/** The error of the service in an answer: of the whole call, or of its tool. Empty for other answers. */
function problemOf({ error, result }: HostMessage): Record<string, unknown> {
  if (error !== undefined) return objectOr(objectOr(error).data);
  if (result?.isError !== true || !Array.isArray(result.content)) return {};
  const { text } = objectOr(result.content[0]);
  return objectOr(typeof text === 'string' ? messageIn(text) : null);
}

/** Statuses of failures that pass, if the body does not say whether a retry helps. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

function refused(response: Response, body: HostMessage | null): ServiceAnswer {
  const { status } = response;
  const { error, code, retryable, session_id } = objectOr(body);
  // Without a code, another program has answered: a proxy does not know what became of the request.
  const isMade = typeof code === 'string' ? typeof session_id === 'string' : status >= 500;
  return {
    why: typeof error === 'string' ? error : statusText(response),
    ...(body && { data: body }),
    isPassing: typeof retryable === 'boolean' ? retryable : PASSING.has(status),
    leavesPoll: isMade,
    retryAfterMs: 1_000 * (secondsIn(response) ?? 0),
  };
}

function statusText({ status, headers }: Response): string {
  const to = status >= 300 && status < 400 ? headers.get('location')?.slice(0, 200) : undefined;
  return `The service answered ${status}${to === undefined ? '' : `: EP_URL must be the address to which it redirects, ${to}`}.`;
}

function secondsIn({ headers }: Response): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  return /^\d{1,6}$/.test(value) ? Number(value) : null;
}

/** In an answer with status 200, only the recovery says when to try again. */
function secondsOf(recovery: unknown): number {
  const steps = Array.isArray(recovery) ? recovery.map((step) => objectOr(step).after_seconds) : [];
  return steps.find((seconds): seconds is number => typeof seconds === 'number') ?? 0;
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  // A failure to connect to several addresses has only a code.
  const { code } = Object(cause) as { code?: unknown };
  return cause?.message || (typeof code === 'string' ? code : String(error));
}
