import { Readable } from 'node:stream';
import { isJsonObject } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalid } from '../../http/api-error.ts';
import { describeError } from '../../http/hooks/errors.ts';
import { countCall } from '../../http/hooks/rate-limit.ts';
import { inOneLine } from '../../http/json-line.ts';
import type { PollsContext } from '../../polls/context.ts';
import { rpcRefusal } from './send-refusal.ts';
import { eventsOf } from './send-response.ts';
import { acceptsAnything, serveMcp } from './serve.ts';
import { operationOf } from './tools.ts';
import { hasEnvelope } from './unknown-revision.ts';
import { wrongParams } from './wrong-params.ts';

// Batches (JSON-RPC arrays) exist in revision 2025-03-26 only, whose servers must accept them. Each message is counted
// and answered like a request of its own; the answers are events of one stream, in the order of the messages.

export const MAX_BATCH_MESSAGES = 20;
const REVISION_WITH_BATCHES = '2025-03-26';

export async function serveBatch(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  gone: AbortSignal,
): Promise<FastifyReply> {
  const messages: readonly unknown[] = Array.isArray(request.body) ? request.body : [];
  refuseBatch(request, messages);
  const answers = messages.map((message) => answerTo(context, oneOf(request, message), gone));
  if (messages.every(expectsNothing)) {
    await Promise.all(answers);
    return reply.code(202).send();
  }
  reply.code(200).type('text/event-stream').headers({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
  return reply.send(Readable.from(eventsInOrder(answers)));
}

/** Throws for an array that is refused as a whole. */
function refuseBatch({ headers }: FastifyRequest, messages: readonly unknown[]): void {
  // Clients of 2025-03-26 send no header with a revision, which later revisions require.
  const { 'mcp-protocol-version': revision = REVISION_WITH_BATCHES, accept } = headers;
  const isModern = messages.some((message) => isJsonObject(message) && hasEnvelope(message.params));
  if (revision !== REVISION_WITH_BATCHES || isModern) throw wrong(OTHER_REVISION);
  if (messages.length === 0 || messages.length > MAX_BATCH_MESSAGES) throw wrong(WRONG_SIZE);
  if (headers['idempotency-key'] !== undefined) throw wrong(KEY_OF_MANY);
  const takesBoth = BOTH.every((type) => accept?.includes(type));
  if (!takesBoth && !acceptsAnything(accept)) throw new ApiError('not_acceptable');
}

/** As the library requires of single messages. */
const BOTH = ['application/json', 'text/event-stream'];

const wrong = (detail: string): ApiError => invalid([{ pointer: '#', detail }]);

const OTHER_REVISION = `batches are accepted only in revision ${REVISION_WITH_BATCHES}; send one JSON-RPC message`;
const WRONG_SIZE = `batches have 1 to ${MAX_BATCH_MESSAGES} messages`;
const KEY_OF_MANY =
  'batches take no Idempotency-Key header, because it is the key of one call; send idempotency_key in the arguments of each';
const NO_INITIALIZE = 'initialize cannot be part of batches';

/** The request as if it contained this message alone. All else comes from the request, by its prototype. */
const oneOf = (request: FastifyRequest, message: unknown): FastifyRequest =>
  Object.create(request, {
    body: { value: message },
    idempotencyKey: { value: null, writable: true },
    countedAhead: { value: null },
    budget: { value: null, writable: true },
  }) as FastifyRequest;

/** Null if the message gets no answer. Never rejects. */
async function answerTo(context: PollsContext, request: FastifyRequest, gone: AbortSignal): Promise<Response | null> {
  const { body: message } = request;
  const answer = await servedAlone(context, request, gone).catch((error: unknown) => {
    const { occurrence } = describeError(error, request);
    return Response.json(rpcRefusal(context.config, occurrence, message));
  });
  return expectsNothing(message) ? null : answer;
}

async function servedAlone(context: PollsContext, request: FastifyRequest, gone: AbortSignal): Promise<Response> {
  const { body: message } = request;
  if (isJsonObject(message) && message.method === 'initialize') throw wrong(NO_INITIALIZE);
  await countCall(context, request, operationOf(request));
  const response = await serveMcp(context, request, gone);
  const wrongly = response.ok ? wrongParams(message) : null;
  if (wrongly === null) return response;
  await response.body?.cancel();
  return Response.json(wrongly);
}

/** Notifications and responses. */
const expectsNothing = (message: unknown): boolean =>
  isJsonObject(message) &&
  (typeof message.method === 'string' ? !Object.hasOwn(message, 'id') : 'result' in message || 'error' in message);

async function* eventsInOrder(answers: readonly Promise<Response | null>[]): AsyncGenerator<string> {
  for (const answer of answers) {
    const response = await answer;
    if (response === null) continue;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const events of eventsOf(response)) yield events;
    } else {
      const text = await response.text();
      if (text !== '') yield `event: message\ndata: ${inOneLine(text)}\n\n`;
    }
  }
}
