import { proxyHint } from '../fetch-failure.ts';
import { pause } from '../pause.ts';
import { askService, type SentMessage, type ServiceAnswer } from './ask-service.ts';
import { readBridgeSettings } from './bridge-settings.ts';
import { type HostMessage, messageIn, objectOr } from './host-message.ts';
import { mcpHeaders } from './mcp-headers.ts';
import { keyFor, keyHeaderFor, leftPoll, mustStop } from './poll-key.ts';
import { stopPoll } from './stop-poll.ts';

// Forwards the messages of an MCP host to the service, each as an HTTP request. The only state is the negotiated
// revision. A poll whose answer is lost is asked for again with its key.

/** How often a poll is asked for again. With the pauses between, an outage of 15 to 30 s is bridged. */
const MAX_REPEATS = 5;
const FIRST_PAUSE_MS = 1_000;
/** If the service wants a longer pause, its answer is passed on instead. */
const MAX_PAUSE_MS = 30_000;
/** A poll ends within two minutes. */
const TIME_LIMIT_MS = 150_000;

export interface BridgeHost {
  write(message: object): void;
  /** For people: what concerns no request of the host. */
  note(text: string): void;
}

export interface McpBridge {
  /** Null: a line that was too long to be read. */
  take(line: string | null): Promise<void>;
  /** Cancels all calls. */
  end(): void;
}

export function createMcpBridge(env: NodeJS.ProcessEnv, { write, note }: BridgeHost): McpBridge {
  const settings = readBridgeSettings(env);
  const running = new Map<string | number, AbortController>();
  let negotiated: string | undefined;

  async function take(line: string | null): Promise<void> {
    if (line === null) return refuse('The line is too long.');
    if (line.trim() === '') return;
    const message = messageIn(line);
    if (!message)
      return refuse(line.trimStart().startsWith('[') ? 'The line is not one message.' : 'The line is not JSON.');
    if (message.method === 'notifications/cancelled') return cancel(message.params?.requestId);
    const { id } = message;
    const call = new AbortController();
    if (id !== undefined) running.set(id, call);
    try {
      await forward(message, line, call.signal);
    } finally {
      if (id !== undefined && running.get(id) === call) running.delete(id);
    }
  }

  /** Over HTTP, a call is canceled by closing its connection. */
  function cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') running.get(id)?.abort();
  }

  async function forward(message: HostMessage, body: string, signal: AbortSignal): Promise<void> {
    if (typeof settings === 'string') return fail(message, settings);
    const { address, key } = settings;
    const pollKey = keyFor(message);
    const headers = { ...mcpHeaders(message, key, negotiated), ...keyHeaderFor(pollKey) };
    const sent = { message, body, headers, signal };
    const heard = await untilAnswered(address, sent, pollKey ? MAX_REPEATS : 0, onlyForward(pass));
    if (signal.aborted) {
      if (mustStop(message, pollKey) && !(await stopPoll(address, message, headers)))
        note('The poll of a canceled call could not be stopped: it may go on and be charged.');
      return;
    }
    const left = pollKey && heard.leavesPoll ? leftPoll(pollKey) : '';
    if (heard.answer) pass(left === '' ? heard.answer : naming(heard.answer, left));
    else if (heard.why !== undefined) {
      const hint = heard.isUnsent ? proxyHint(env, address.href) : '';
      fail(message, heard.why + left + hint, heard.data);
    }
  }

  function pass(message: HostMessage): void {
    const { protocolVersion } = objectOr(message.result);
    if (typeof protocolVersion === 'string') negotiated = protocolVersion;
    write(message);
  }

  /** `data`: the error of the service, with its code and what to do about it. */
  function fail({ id }: HostMessage, message: string, data?: object): void {
    if (id === undefined) note(message);
    else write({ jsonrpc: '2.0', id, error: { code: -32_603, message, ...(data && { data }) } });
  }

  const refuse = (message: string): void => write({ jsonrpc: '2.0', id: null, error: { code: -32_700, message } });

  const end = (): void => {
    for (const call of running.values()) call.abort();
  };
  return { take, end };
}

/** Asks again after an answer that was lost. The last answer counts, and any of them may have left a poll. */
async function untilAnswered(
  address: URL,
  sent: Omit<SentMessage, 'leftMs'>,
  repeats: number,
  relay: (message: HostMessage) => void,
): Promise<ServiceAnswer> {
  const endsAt = performance.now() + TIME_LIMIT_MS;
  let wasLeft = false;
  for (let nth = 0; ; nth++) {
    const heard = await askService(address, { ...sent, leftMs: endsAt - performance.now() }, relay);
    const { isPassing = false, leavesPoll = false, retryAfterMs = 0 } = heard;
    wasLeft ||= leavesPoll;
    const pauseMs = retryAfterMs + ((1 + Math.random()) / 2) * FIRST_PAUSE_MS * 2 ** nth;
    const hasTime = retryAfterMs <= MAX_PAUSE_MS && performance.now() + pauseMs < endsAt;
    // Only a result is about the poll. A refusal, such as of a key that was revoked, says nothing of an earlier one.
    const saysNothing = isPassing || heard.answer?.result === undefined;
    const last = { ...heard, leavesPoll: leavesPoll || (saysNothing && wasLeft) };
    // Where no poll can have been made, an error at once is better than a wait.
    if (nth >= repeats || !isPassing || !wasLeft || !hasTime) return last;
    try {
      await pause(pauseMs, sent.signal);
    } catch {
      // The host has canceled the call.
      return last;
    }
  }
}

/** Progress must increase, and a poll that is asked for again repeats its state. */
function onlyForward(relay: (message: HostMessage) => void): (message: HostMessage) => void {
  let reached = Number.NEGATIVE_INFINITY;
  return (message) => {
    const progress = message.method === 'notifications/progress' ? message.params?.progress : undefined;
    if (typeof progress === 'number') {
      if (progress <= reached) return;
      reached = progress;
    }
    relay(message);
  };
}

/** An error of the service, with what its caller does not know: the key of the poll. */
function naming(answer: HostMessage, left: string): HostMessage {
  const { error, result } = answer;
  if (error !== undefined) {
    const known = objectOr(error);
    return { ...answer, error: { ...known, message: `${known.message}${left}` } };
  }
  const content: unknown[] = Array.isArray(result?.content) ? result.content : [];
  return { ...answer, result: { ...result, content: [...content, { type: 'text', text: left.trim() }] } };
}
