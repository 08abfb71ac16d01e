import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { chatErrorBody, ERRORS, type ErrorCode, errorBody } from '@eloquentpoll/contracts';
import { isChatPath } from '../chat-errors.ts';
import { requestId } from './request-ids.ts';

// Bytes that never became a request: only the socket is there to answer, and of the path what its first line says.

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

export function answerClientError(error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const code = CODES[error.code ?? ''] ?? 'bad_request';
  const { status } = ERRORS[code];
  const occurrence = { code, requestId: requestId({ headers: {} }) };
  const body = JSON.stringify(isChatPath(pathIn(error.rawPacket)) ? chatErrorBody(occurrence) : errorBody(occurrence));
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Node keeps the first bytes of what it could not parse. */
const pathIn = (bytes: unknown): string =>
  Buffer.isBuffer(bytes) ? (/^[A-Z]+ (\S+)/.exec(bytes.toString('latin1', 0, 64))?.[1] ?? '') : '';
