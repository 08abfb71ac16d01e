import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { chatErrorBody, ERRORS, type ErrorCode, errorBody } from '@eloquentpoll/contracts';
import { isChatPath } from '../chat-errors.ts';
import { requestId } from './request-ids.ts';

// Handles bytes that never became a request: only a socket is left to answer, and the path is in the first line.

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

export function answerClientError(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
  detail?: string,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const code = CODES[error.code ?? ''] ?? 'bad_request';
  const { status, headers, body } = answerOf(code, pathIn(error.rawPacket), detail);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}

/** Answers an `Expect` other than 100-continue, which Node handles before the framework sees the request. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = answerOf('expectation_failed', request.url ?? '');
  response.writeHead(status, headers).end(body);
}

function answerOf(code: ErrorCode, path: string, detail?: string) {
  const { status } = ERRORS[code];
  const occurrence = { code, requestId: requestId({ headers: {} }), detail };
  const body = JSON.stringify(isChatPath(path) ? chatErrorBody(occurrence) : errorBody(occurrence));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  return { status, headers, body };
}

/** Node keeps the first bytes of what it could not parse. */
const pathIn = (bytes: unknown): string =>
  Buffer.isBuffer(bytes) ? (/^[A-Z]+ (\S+)/.exec(bytes.toString('latin1', 0, 64))?.[1] ?? '') : '';
