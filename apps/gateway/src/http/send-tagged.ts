import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sends a text with its ETag, or 304 to a caller that has it. To be called after all headers are set. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  const tag = tagOf(body);
  reply.header('etag', tag);
  if (!namesTag(request.headers['if-none-match'], tag)) return reply.send(body);
  return reply.code(304).removeHeader('content-type').send();
}

const tagOf = (body: string): string => `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;

/** Weak comparison (RFC 9110, 13.1.2): a proxy may have marked the tag as weak. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || named.includes(tag);
}
