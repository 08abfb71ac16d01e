import { isUnconnected } from '../fetch-failure.ts';

// Records what a command has done at the service, for the case that it fails.

export interface Heard {
  /** Whether the service was reached by any call. If so, what was sent may have been done. */
  isAny: boolean;
  /** The batch that the command follows. Its answers are charged even if the command fails. */
  batchId?: string;
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
