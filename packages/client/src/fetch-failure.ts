// Reads why `fetch` failed: each runtime wraps the reason in its own way.

/** The root cause of a failed `fetch`. If it tried several addresses, the failure of the first. */
export function causeOf(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return causeOf(error.cause ?? first) ?? error;
}

const REFUSED = new Set(['ECONNREFUSED', 'ConnectionRefused']);
const UNCONNECTED = new Set([
  ...REFUSED,
  'UND_ERR_CONNECT_TIMEOUT',
  'FailedToOpenSocket',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);
/** Codes of certificates that are not accepted, such as those of a proxy that reads along. */
const CERTIFICATE = /(^|_)CERT(_|$)|^(HOSTNAME_MISMATCH|INVALID_CA|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;
/** The words of Node: a port that `fetch` refuses, a handshake that was cut, a proxy that connects to nothing. */
const WITHOUT_CODE =
  /^(bad port$|Client network socket disconnected before secure TLS connection|Proxy response \(\d+\) )/;

/** Whether certainly nothing was sent: unknown host, no route, no listener, no TLS, or a proxy that does not connect. */
export function isUnconnected(error: unknown): boolean {
  const { code, syscall, message } = factsOf(error);
  if (typeof code === 'string' && (UNCONNECTED.has(code) || CERTIFICATE.test(code))) return true;
  return syscall === 'connect' || syscall === 'getaddrinfo' || WITHOUT_CODE.test(String(message));
}

/** Whether the address exists, and nothing listens there. */
export function isRefusedConnection(error: unknown): boolean {
  const { code, message } = factsOf(error);
  return (typeof code === 'string' && REFUSED.has(code)) || message === 'bad port';
}

const factsOf = (error: unknown): { code?: unknown; syscall?: unknown; message?: unknown } => causeOf(error) ?? {};

/** A proxy that is set, and whether this process uses it, as a sentence after the error. Empty if there is none. */
export function proxyHint(env: NodeJS.ProcessEnv, url: string): string {
  const { protocol, hostname } = new URL(url);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  const isUsed = env.NODE_USE_ENV_PROXY === '1' || /--use-env-proxy\b/.test(env.NODE_OPTIONS ?? '');
  if (isHere || !(env[name] || env[name.toLowerCase()])) return '';
  return isUsed
    ? ` Requests go through the proxy of ${name}.`
    : ` ${name} is set, but Node uses it only with NODE_USE_ENV_PROXY=1.`;
}
