import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type Description, type FuzzedOperation, operationsOf } from './operations.ts';
import type { FuzzAnswer, Sent } from './send-request.ts';

// Checks every answer, whatever was asked: status, shape and error code must be declared for the operation, and it must
// not contain a bug of ours, internals or a secret.

/** Errors before an operation is found, for requests that need not match any operation. */
const BEFORE_ROUTING: Readonly<Record<string, number>> = {
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  uri_too_long: 414,
  headers_too_large: 431,
  bad_request: 400,
};

const INSIDES =
  /node_modules|\bat \S+ \(|\bat async |file:\/\/\/(?!etc)|\.ts:\d+|select .* from |insert into |[Pp]ostgres|ioredis|\bE[A-Z]{5,}\b/;

export type Judge = (sent: Sent, answer: FuzzAnswer) => string | null;

/** `secretsIn` returns the name of the secret that a text contains, if any. */
export function judgeOf(
  description: Description,
  secretsIn: (text: string, operationId: string) => string | null,
): Judge {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    validateSchema: false,
    schemas: { api: { ...description, $id: 'api' } },
  });
  formats.default(ajv);
  const compiled = new Map<string, ValidateFunction>();

  function mismatch(pointer: string, value: unknown): string | null {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    compiled.set(pointer, check);
    return check(value) ? null : `not of the declared shape: ${ajv.errorsText(check.errors)}`;
  }

  function shape(operation: FuzzedOperation, { status, headers, text }: FuzzAnswer): string | null {
    if (status === 204 && STREAMS_TOO.has(operation.id)) return text === '' ? null : 'a 204 with a body';
    const declared = operation.answers[status];
    if (!declared) return `${status} is not declared`;
    const mediaType = String(headers['content-type'] ?? '')
      .split(';')[0]!
      .trim();
    if (status === 304 || (text === '' && !MAY_BE_EMPTY.has(mediaType)))
      return declared.content && status !== 304 ? 'an empty body is not declared' : null;
    if (mediaType === STREAM && STREAMS_TOO.has(operation.id)) return wrongStream(operation.id, text);
    if (!declared.content?.[mediaType]) return `${status} as "${mediaType}" is not declared`;
    const answer = ['paths', operation.path, operation.method.toLowerCase(), 'responses', String(status)];
    const place = declared.$ref?.slice(1) ?? pointerOf(answer);
    const pointer = place + pointerOf(['content', mediaType, 'schema']);
    if (mediaType === STREAM) return wrongEvents(text);
    if (mediaType === 'application/jsonl')
      return mismatch(pointer, text) && wrongLines(text, (line) => mismatch(pointer, line));
    if (!/[/+]json$/.test(mediaType)) return mismatch(pointer, text);
    const value = parsed(text);
    if (value === undefined) return 'the body is not JSON';
    const others = status === 200 ? (OTHER_FORMS[operation.id] ?? []) : [];
    const isOther = others.some((path) => mismatch(formOf(path), value) === null);
    return (
      (isOther ? null : mismatch(pointer, value)) ??
      (status >= 400 ? wrongError(declared.description ?? '', status, mediaType, value) : null)
    );
  }

  const find = finderOf(operationsOf(description));
  return (sent, answer) => {
    const { status, headers, text } = answer;
    const operation = find(sent);
    const secret = secretsIn(`${text}\n${JSON.stringify(headers)}`, operation?.id ?? '');
    if (secret) return `the answer shows ${secret}`;
    if (status >= 400 && INSIDES.test(text)) return `the answer shows our insides: "${INSIDES.exec(text)?.[0]}"`;
    const bare = missingHeader(headers);
    if (bare) return `the answer lacks ${bare}`;
    if (status >= 500 && !okayToFail(text)) return `${status}: ${text.slice(0, 200)}`;
    if (sent.method === 'HEAD') return text === '' ? null : 'a HEAD with a body';
    if (operation) return isOdd(sent) && isBeforeRouting(status, text) ? null : shape(operation, answer);
    if (status === 204 && sent.method === 'OPTIONS') return null;
    if (status === 200 && HIDDEN.test(sent.target)) return null;
    return status >= 400 ? null : `${status}, though there is no such operation`;
  };
}

/** Includes line ends that only some clients recognize: a message must stay whole for each of them. */
const EVERY_LINE_END = /\r\n|[\n\r\u0085\u2028\u2029]/;

/** Other shapes of a 200 that the document describes only in words: the answer of another path. */
const OTHER_FORMS: Readonly<Record<string, readonly string[]>> = {
  createPoll: ['/api/quick-poll', '/api/poll/dry-run'],
};

const formOf = (path: string): string =>
  pointerOf(['paths', path, 'post', 'responses', '200', 'content', 'application/json', 'schema']);

/** A file of lines may be empty. */
const MAY_BE_EMPTY = new Set(['application/jsonl', 'text/csv']);

function wrongLines(text: string, problemOf: (line: unknown) => string | null): string | null {
  for (const line of text.split(EVERY_LINE_END).slice(0, -1)) {
    const value = parsed(line);
    const problem = value === undefined ? 'a line that is no JSON' : problemOf(value);
    if (problem !== null) return problem;
  }
  return text === '' || text.endsWith('\n') ? null : 'a last line without an end';
}

/** Files that pages load, which are not operations. */
const HIDDEN = /\.(js|css|svg)$/;

const pointerOf = (steps: readonly string[]): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

/** Finds the operation of a request as a router would: without decoding escapes, and ignoring one trailing slash. */
function finderOf(operations: readonly FuzzedOperation[]): (sent: Sent) => FuzzedOperation | null {
  const literal = new Map(operations.map((operation) => [operation.name, operation]));
  const patterns = operations
    .filter(({ path }) => path.includes('{'))
    .map((operation) => ({ operation, pattern: patternOf(operation.path) }));
  return ({ method, target }) => {
    const path = withoutSlash(operations, target.split('?', 1)[0]!);
    const asked = method === 'HEAD' ? 'GET' : method;
    const found = patterns.find(({ operation, pattern }) => operation.method === asked && pattern.test(path));
    return literal.get(`${asked} ${path}`) ?? found?.operation ?? null;
  };
}

/** A trailing slash is ignored where no id could follow it. */
function withoutSlash(operations: readonly FuzzedOperation[], path: string): string {
  const shorter = path.replace(/(?<=[^/])\/$/, '');
  const isParent = (operation: FuzzedOperation) =>
    operation.path.replace(/\/\{\w+\}$/, '') === shorter && operation.path !== shorter;
  return operations.some(isParent) ? path : shorter;
}

const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map((fixed) => fixed.replace(/\W/g, '\\$&'))
      .join('[^/]*')}$`,
  );

/** Targets that a router may refuse before it looks for an operation. */
const isOdd = ({ target }: Sent): boolean =>
  target.length > 4_000 || !/^[\w./~?=&,:;*+@!$'()-]*$/.test(target) || /[^/]{101,}/.test(target);

function missingHeader(headers: FuzzAnswer['headers']): string | null {
  if (headers['x-powered-by'] ?? headers.server) return 'reticence about what it runs on';
  // Node itself rejected the request, so the answer has no headers of ours.
  if (headers.connection === 'close' && headers['x-request-id'] === undefined) return null;
  for (const name of ['x-request-id', 'x-content-type-options', 'cache-control']) if (!headers[name]) return name;
  return null;
}

/**
 * "Not configured" is a valid answer. An internal error or an unavailable store is not, because here nothing is down.
 */
const okayToFail = (text: string): boolean =>
  ['not_configured', 'registry_not_configured'].includes(codeOf(parsed(text)) ?? '');

function isBeforeRouting(status: number, text: string): boolean {
  const code = codeOf(parsed(text));
  return code !== null && BEFORE_ROUTING[code] === status;
}

function wrongError(description: string, status: number, mediaType: string, value: unknown): string | null {
  const code = codeOf(value);
  // JSON-RPC errors have their own form, which the declared shape describes.
  if (code === null) return isRpc(value) ? null : 'an error without a code';
  if (mediaType === 'application/problem+json' && (value as { status?: unknown }).status !== status)
    return 'a problem of another status';
  return description.includes(`\`${code}\``) ? null : `${code} is not declared for ${status}`;
}

const STREAM = 'text/event-stream';

/** Operations that also stream if the caller asks for it; OpenAPI leaves these to AsyncAPI. */
const STREAMS_TOO = new Set(['createPoll', 'quickPoll', 'createChatCompletion', 'speakMcp', 'sendTask']);

function wrongStream(operationId: string, text: string): string | null {
  if (operationId === 'createPoll' || operationId === 'quickPoll') return wrongEvents(text);
  const lines = text.split(EVERY_LINE_END).filter((line) => line.startsWith('data:'));
  const data = lines.map((line) => line.slice('data:'.length).trim());
  const isChat = operationId === 'createChatCompletion';
  if (isChat && data.at(-1) !== '[DONE]') return 'a completion without its end';
  const messages = (isChat ? data.slice(0, -1) : data).map(parsed);
  if (messages.length === 0 || messages.some((message) => typeof message !== 'object' || message === null))
    return 'an event whose data is not JSON';
  return isChat || messages.every(isRpc) ? null : 'an event that is no JSON-RPC';
}

function wrongEvents(text: string): string | null {
  const events = text
    .split('\n\n')
    .map((block) => /^event: ?(.*)$/m.exec(block)?.[1])
    .filter((name) => name !== undefined);
  const last = events.at(-1);
  if (last !== 'complete' && last !== 'error') return `a stream that ends with ${last}`;
  if (events.slice(0, -1).some((name) => name !== 'started')) return `a stream of ${events.join()}`;
  const data = text.split(EVERY_LINE_END).filter((line) => line.startsWith('data:'));
  return data.some((line) => parsed(line.slice(5)) === undefined) ? 'an event whose data is not JSON' : null;
}

const isRpc = (value: unknown): boolean => typeof value === 'object' && value !== null && 'jsonrpc' in value;

/** Under /v1 the error code is one level deeper, as clients of the OpenAI API expect. */
export function codeOf(answer: unknown): string | null {
  const inner = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : null;
  const value = typeof inner === 'object' && inner !== null ? inner : answer;
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
    ? value.code
    : null;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
