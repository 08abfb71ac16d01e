#!/usr/bin/env node
import { causeOf, isUnconnected } from '../fetch-failure.ts';
import { splitLines } from '../split-lines.ts';

// The MCP server of a bundle. A host starts it as a process and exchanges JSON-RPC messages, one per line, over stdin
// and stdout; each is forwarded to the service over HTTP. The only state is the negotiated version.

interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: { protocolVersion?: string };
  error?: unknown;
}

const address = addressOf(process.env.EP_URL || 'http://localhost:8080');
const key = (process.env.EP_KEY ?? '').trim();
const running = new Map<string | number, AbortController>();
let negotiated: string | undefined;

/** Of a service that may be below a path. Null if nothing can be sent there: `fetch` refuses passwords and shows them. */
function addressOf(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  const isUsable = /^https?:$/.test(protocol) && username === '' && password === '';
  return isUsable ? new URL(`${href.replace(/\/+$/, '')}/api/mcp`) : null;
}

const NO_ADDRESS = 'EP_URL must be an address such as https://polls.example.com, without a password.';

/** The error of `fetch` for a key that no header can hold shows the whole key. */
function faultOfKey(): string | null {
  if (key === '') return 'EP_KEY is not set; it holds an API key, which begins with ep_k_.';
  return /^[\x21-\x7e]+$/.test(key) ? null : 'EP_KEY contains characters that API keys never have.';
}

async function take(line: string | null): Promise<void> {
  if (line === null) return refuse('The line is too long.');
  if (line.trim() === '') return;
  const message = parsed(line);
  if (!message)
    return refuse(line.trimStart().startsWith('[') ? 'The line is not one message.' : 'The line is not JSON.');
  if (message.method === 'notifications/cancelled') return cancel(message.params?.requestId);
  const { id } = message;
  const call = new AbortController();
  if (id !== undefined) running.set(id, call);
  try {
    await carry(message, line, call.signal);
  } catch (error) {
    const why = `The service at ${address?.origin} cannot be reached: ${reasonOf(error)}`;
    if (!call.signal.aborted) fail(message, isUnconnected(error) ? why : `${why}${leftBehind(message)}`);
  } finally {
    if (id !== undefined) running.delete(id);
  }
}

function parsed(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? (message as Message) : null;
  } catch {
    return null;
  }
}

/** Over HTTP, a call is cancelled by closing its connection. */
function cancel(id: unknown): void {
  if (typeof id === 'string' || typeof id === 'number') running.get(id)?.abort();
}

async function carry(message: Message, body: string, signal: AbortSignal): Promise<void> {
  const fault = faultOfKey();
  if (fault !== null) return fail(message, fault);
  if (address === null) return fail(message, NO_ADDRESS);
  // A redirect that is followed loses the key.
  const init = { method: 'POST', headers: headersOf(message), body, signal, redirect: 'manual' } as const;
  const response = await fetch(address, init);
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const isAnswered = await carryEvents(response, message);
    if (!isAnswered && isRequest(message)) fail(message, `The answer of the service broke off.${leftBehind(message)}`);
    return;
  }
  const text = await response.text();
  const answer = parsed(text) as (Message & { jsonrpc?: string }) | null;
  if (answer?.jsonrpc === '2.0') {
    const own = { ...answer, id: answer.id ?? message.id ?? null };
    pass(own);
    if (isRequest(message) && !isAnswerTo(message, own)) fail(message, 'The service answered something else.');
  } else if (!response.ok) {
    fail(message, typeof answer?.error === 'string' ? answer.error : statusText(response), answer ?? undefined);
  } else if (isRequest(message)) {
    fail(message, `What answered at ${address.origin} is no MCP server: ${response.status} without JSON-RPC.`);
  }
}

/** True if the host waits for an answer: not for notifications and not for its own answers. */
const isRequest = ({ id, method }: Message): boolean => id !== undefined && method !== undefined;

const isAnswerTo = ({ id }: Message, answer: Omit<Message, 'id'> & { id?: unknown }): boolean =>
  answer.id === id && (answer.result !== undefined || answer.error !== undefined);

/** Forwards events. True if one of them was the answer. */
async function carryEvents(response: Response, asked: Message): Promise<boolean> {
  let isAnswered = false;
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).replaceAll('\r\n', '\n').split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event
        .split('\n')
        .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
        .join('\n');
      const message = parsed(data);
      if (!message) continue;
      pass(message);
      isAnswered ||= isAnswerTo(asked, message);
    }
  }
  return isAnswered;
}

function headersOf({ method, params }: Message): Record<string, string> {
  const meta = params?._meta as Record<string, unknown> | undefined;
  const version = meta?.['io.modelcontextprotocol/protocolVersion'] ?? negotiated;
  const name = params?.name ?? params?.uri ?? params?.taskId;
  return {
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
    ...(method !== undefined && { 'mcp-method': method }),
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

/** The protocol's encoding for text that a header cannot contain. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

function pass(message: Omit<Message, 'id'> & { id?: unknown }): void {
  negotiated = message.result?.protocolVersion ?? negotiated;
  write(message);
}

function statusText({ status, headers }: Response): string {
  const to = status >= 300 && status < 400 ? headers.get('location') : null;
  return `The service answered ${status}${to === null ? '' : `: EP_URL must be the address to which it redirects, ${to}`}.`;
}

/**
 * Notifications have no answer, so their failure is printed for people. `data`: the error of the service, with its code
 * and what to do about it.
 */
function fail({ id }: Message, message: string, data?: object): void {
  if (id === undefined) process.stderr.write(`${message}\n`);
  else write({ jsonrpc: '2.0', id, error: { code: -32_603, message, ...(data && { data }) } });
}

const write = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

const refuse = (message: string): void => write({ jsonrpc: '2.0', id: null, error: { code: -32_700, message } });

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  // A failure to connect to several addresses has only a code.
  const { code } = Object(cause) as { code?: unknown };
  return cause?.message || (typeof code === 'string' ? code : String(error));
}

/** A model that reads the error would ask again, and pay for two polls. */
function leftBehind({ method, params }: Message): string {
  if (method !== 'tools/call' || params?.name !== 'poll_question') return '';
  const given = params.arguments as Record<string, unknown> | undefined;
  return typeof given?.idempotency_key === 'string'
    ? ' The poll may go on: the same call with the same idempotency_key joins it.'
    : ' The poll may go on and be charged; another call makes another poll.';
}

try {
  for await (const { text } of splitLines(process.stdin)) void take(text);
} finally {
  for (const call of running.values()) call.abort();
}
