const MAX_LENGTH = 1_000;

/** Nothing is encoded in a path of ours. */
const PATH = /^\/(?:dashboard(?:\/[\w-]+){0,3}|result\/EP-[\w-]+)$/;
/** No character outside of those that forms and `URLSearchParams` write, and none that stands for a control character. */
const QUERY = /^(?:[\w.~+=&*-]|%(?:[2-689A-F][\dA-F]|7[\dA-E]))*$/i;
/** Says without its query only how it is opened. */
const GRANT = '/dashboard/grant';

/** Where a login may lead besides the dashboard: the page that it interrupted, by a path of ours. */
export function nextPageOf(text: string | undefined): string | null {
  if (text === undefined || text.length > MAX_LENGTH) return null;
  const [path = '', ...queries] = text.split('?');
  if (!PATH.test(path) || queries.length > 1 || !QUERY.test(queries[0] ?? '')) return null;
  return path === GRANT && !queries[0] ? null : text;
}
