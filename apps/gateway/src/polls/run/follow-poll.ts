import type { FastifyReply, FastifyRequest } from 'fastify';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import { openEventStream } from '../../http/sse/open-event-stream.ts';
import type { PollsContext } from '../context.ts';
import type { StreamStart } from './begin-stream.ts';
import type { PollRelay } from './relay-poll.ts';

/** What ends a poll at its deadline, and what stores its end, may be this late. */
const GRACE_MS = 8_000;

interface Following {
  /** False: one `started`, then nothing until the end. */
  progress?: boolean;
  /** The caller follows on after a cut, and knows that. */
  resumed?: boolean;
}

/** Answers a request with the events of a poll. A caller who leaves ends nothing. */
export function followPoll(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  relay: PollRelay,
  { poll, watch, seq, givenUp, opening, leftMs, joined }: StreamStart,
  { progress = true, resumed = false }: Following = {},
): void {
  if (joined && !resumed) markReplayed(reply);
  const stream = openEventStream(context.streams, request, reply, leftMs + GRACE_MS);
  if (!stream) {
    watch?.close();
    return;
  }
  stream.send(opening);
  const { pollId, spec } = poll;
  relay.into(stream, { pollId, options: spec.options, seq, progress, requestId: request.id, givenUp }, watch);
  if (joined) relay.hear(null);
}
