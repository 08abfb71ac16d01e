import { isPollId } from '@eloquentpoll/polls';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';

// Polls that are checked in the history, as its forms send them.

export const MAX_CHOSEN = 100;

export const chosenIds = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: MAX_CHOSEN, description }));

/** One checked box is a list, too. For `preValidation`. */
export async function listIds(request: FastifyRequest): Promise<void> {
  const query = request.query as Record<string, unknown>;
  if (typeof query.id === 'string') request.query = { ...query, id: [query.id] };
}

/** Without what is no id. */
export const pollIdsOf = (ids: readonly string[] = []): string[] => [...new Set(ids.filter(isPollId))];
