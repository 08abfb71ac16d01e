import { findAccount } from '@eloquentpoll/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../http/access.ts';
import type { AccountsContext } from '../context.ts';

// The deprecated bearer of MCP: a user id. It is no secret (several operations show it), so the operator has to switch
// it on, it reaches only tools that spend nothing, and each use is announced to the caller and to the operator.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** null where it is switched off, and for what is nobody's id. */
export async function principalOfUserId(
  { config, storage }: AccountsContext,
  bearer: string,
): Promise<Principal | null> {
  if (!config.mcpUserIdBearer || !UUID.test(bearer)) return null;
  const account = await findAccount(storage, bearer.toLowerCase());
  return account && { accountId: account.id, via: 'user_id' };
}

/** RFC 9745 and RFC 8594: since when it is deprecated, and when it ends. */
const HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: new Date(Date.UTC(2027, 4, 1)).toUTCString(),
} as const;

export async function announceUserId(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.principal?.via !== 'user_id') return;
  reply.headers(HEADERS);
  request.log.warn('a user id was taken as a bearer, which is deprecated');
}
