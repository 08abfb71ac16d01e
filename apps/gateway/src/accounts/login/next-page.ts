const MAX_LENGTH = 1_000;

/** Our paths contain no percent-encoding. */
const PATH = /^\/(?:dashboard(?:\/[\w-]+){0,3}|result\/EP-[\w-]+)$/;
/** Only characters that forms and `URLSearchParams` write, and no encoded control characters. */
const QUERY = /^(?:[\w.~+=&*-]|%(?:[2-689A-F][\dA-F]|7[\dA-E]))*$/i;
/** Without its query this page only explains how to open it. */
const GRANT = '/dashboard/grant';

/** The page that the login interrupted, if it is one of our paths; otherwise null, for the dashboard. */
export function nextPageOf(text: string | undefined): string | null {
  if (text === undefined || text.length > MAX_LENGTH) return null;
  const [path = '', ...queries] = text.split('?');
  if (!PATH.test(path) || queries.length > 1 || !QUERY.test(queries[0] ?? '')) return null;
  return path === GRANT && !queries[0] ? null : text;
}
