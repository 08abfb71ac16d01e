import { findAccount } from '@eloquentpoll/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../http/access.ts';
import type { AccountsContext } from '../context.ts';
import { requireOpen } from '../frozen.ts';

// MCP's deprecated bearer, a user id. User ids are not secret, so the operator must enable it. It works only for tools
// that spend nothing, and each use is logged and marked in the response headers.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Null when it is not enabled, and when there is no such account. */
export async function principalOfUserId(
  { config, storage }: AccountsContext,
  bearer: string,
): Promise<Principal | null> {
  if (!config.mcpUserIdBearer || !UUID.test(bearer)) return null;
  const account = await findAccount(storage, bearer.toLowerCase());
  return account && { accountId: requireOpen(account).id, via: 'user_id' };
}

/** RFC 9745 and RFC 8594: when it was deprecated, and when it ends. */
const HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: new Date(Date.UTC(2027, 4, 1)).toUTCString(),
} as const;

export async function announceUserId(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.principal?.via !== 'user_id') return;
  reply.headers(HEADERS);
  request.log.warn('auth.user_id_bearer_used');
}
