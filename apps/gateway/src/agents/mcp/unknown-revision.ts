import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '@eloquentpoll/contracts';
import { rpcIdOf } from '../json-rpc.ts';
import { REVISIONS } from './revisions.ts';

/** Revisions that the library still speaks, for clients that have not been updated since. */
const OLDER: readonly string[] = ['2024-11-05', '2024-10-07'];
const UNSUPPORTED_PROTOCOL_VERSION = -32_022;

/**
 * The error for a request whose header names a revision that is not served; null for others. It names all that are; the
 * library would name its own. A request with an envelope is the library's, which answers with what server/discover
 * names, and `initialize` negotiates.
 */
export function unknownRevision(requested: IncomingHttpHeaders[string], body: unknown): object | null {
  if (requested === undefined || OLDER.some((one) => one === requested) || REVISIONS.some((one) => one === requested))
    return null;
  if (isJsonObject(body) && (body.method === 'initialize' || hasEnvelope(body.params))) return null;
  const id = rpcIdOf(body) ?? null;
  const message = `Unsupported protocol version; supported: ${REVISIONS.join(', ')}`;
  const data = { supported: REVISIONS, requested };
  return { jsonrpc: '2.0', id, error: { code: UNSUPPORTED_PROTOCOL_VERSION, message, data } };
}

/** Requests since revision 2026-07-28 have one. */
export const hasEnvelope = (params: unknown): boolean =>
  isJsonObject(params) &&
  isJsonObject(params._meta) &&
  Object.hasOwn(params._meta, 'io.modelcontextprotocol/protocolVersion');
