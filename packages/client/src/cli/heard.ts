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

const UNCONNECTED = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused', 'FailedToOpenSocket']);

/** Whether certainly nothing was sent: unknown host, no route, no listener, or a port that `fetch` refuses. */
function isUnconnected(error: unknown): boolean {
  const { code, syscall, message } = (causeOf(error) ?? {}) as { code?: unknown; syscall?: unknown; message?: unknown };
  if (typeof code === 'string' && UNCONNECTED.has(code)) return true;
  return syscall === 'connect' || syscall === 'getaddrinfo' || message === 'bad port';
}

/** The root cause of a failed `fetch`. */
export function causeOf(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  return causeOf(error.cause) ?? error;
}
