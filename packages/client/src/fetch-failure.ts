// Reads why `fetch` failed: each runtime wraps the reason in its own way.

/** The root cause of a failed `fetch`. */
export function causeOf(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  return causeOf(error.cause) ?? error;
}

const UNCONNECTED = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused', 'FailedToOpenSocket']);

/** Whether certainly nothing was sent: unknown host, no route, no listener, or a port that `fetch` refuses. */
export function isUnconnected(error: unknown): boolean {
  const { code, syscall, message } = (causeOf(error) ?? {}) as { code?: unknown; syscall?: unknown; message?: unknown };
  if (typeof code === 'string' && UNCONNECTED.has(code)) return true;
  return syscall === 'connect' || syscall === 'getaddrinfo' || message === 'bad port';
}
