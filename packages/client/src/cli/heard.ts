import { EloquentPollError } from '../eloquentpoll.ts';
import { isUnconnected } from '../fetch-failure.ts';

// Records what a command has done at the service, for the case that it fails.

export interface Heard {
  /** Whether the service was reached by any call. If so, what was sent may have been done. */
  isAny: boolean;
  /** The batch that the command follows. Its answers are charged even if the command fails. */
  batchId?: string;
  /** The poll that the command follows. */
  sessionId?: string;
  /** The key of the poll that the command has asked for. Until the poll's id is known, only the key finds it. */
  idempotencyKey?: string;
}

export function notingFetch(heard: Heard): typeof fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init);
      heard.isAny = true;
      return response;
    } catch (error) {
      heard.isAny ||= !isUnconnected(error);
      throw error;
    }
  };
}

/**
 * Whether what was sent may have been done, but no answer of the service says so: the command was interrupted before one
 * came, none came, or one of a proxy.
 */
export function mayBeMade(error: unknown, { isAny, sessionId }: Heard, { aborted }: AbortSignal): boolean {
  if (!isAny) return false;
  if (aborted) return sessionId === undefined;
  if (!(error instanceof EloquentPollError) || error.sessionId !== null) return false;
  return /^(network_error|timeout|bad_response|http_5\d\d)$/.test(error.code);
}
