import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Coding, codingFor, compressed } from './compressed.ts';
import { inAskedForm } from './hooks/page-markdown.ts';
import { keptMarkdown } from './kept-markdown.ts';
import { sendable, tagOf } from './large-texts.ts';

/** Sends a text with its ETag, or 304 if the caller already has it. Call it after all headers are set. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  const tag = tagOf(body);
  if (hasIt(request, reply, tag)) return notModified(reply);
  return reply.send(body);
}

/** The same for a body that is made from a text, and only if the caller does not have it. */
export async function sendMadeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  source: string,
  make: () => Promise<Buffer>,
): Promise<FastifyReply> {
  if (hasIt(request, reply, tagOf(source))) return notModified(reply);
  return reply.send(await make());
}

/** The same for a public text without any secret: compressed if the caller accepts that. */
export async function sendPublicText(
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
): Promise<FastifyReply> {
  const body = inAskedForm(request, reply, page, keptMarkdown);
  const { payload, bytes, tag } = sendable(body);
  const coding = codingFor(request.headers['accept-encoding'], bytes);
  reply.header('vary', varyWith(reply.getHeader('vary')));
  if (hasIt(request, reply, coding === null ? tag : codedTag(tag, coding))) return notModified(reply);
  if (coding === null) return reply.send(payload);
  return reply.header('content-encoding', coding).send(await compressed(tag, body, coding));
}

function hasIt(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  reply.header('etag', tag);
  return namesTag(request.headers['if-none-match'], tag);
}

const notModified = (reply: FastifyReply): FastifyReply => reply.code(304).removeHeader('content-type').send();

/** Each form of a text has its own ETag (RFC 9110, 8.8.3.3). */
const codedTag = (tag: string, coding: Coding): string => `${tag.slice(0, -1)}-${coding}"`;

function varyWith(vary: unknown): string {
  return typeof vary === 'string' && vary !== '' ? `${vary}, Accept-Encoding` : 'Accept-Encoding';
}

/** Weak comparison (RFC 9110, 13.1.2), because a proxy may have marked the tag as weak. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || named.includes(tag);
}
