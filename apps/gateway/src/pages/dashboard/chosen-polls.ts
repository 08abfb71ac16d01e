import { isPollId } from '@eloquentpoll/polls';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';

// The polls that are checked in the history, as its forms send them.

export const MAX_CHOSEN = 100;

export const chosenIds = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: MAX_CHOSEN, description }));

/** A `preValidation` hook: a single checked box is sent as a string, and becomes a list. */
export async function listIds(request: FastifyRequest): Promise<void> {
  const query = request.query as Record<string, unknown>;
  if (typeof query.id === 'string') request.query = { ...query, id: [query.id] };
}

/** Drops values that are not poll ids, and duplicates. */
export const pollIdsOf = (ids: readonly string[] = []): string[] => [...new Set(ids.filter(isPollId))];
