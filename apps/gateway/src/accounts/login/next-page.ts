/** Where a login may lead besides the dashboard: the page that it interrupted, by a path of ours. */
export const nextPageOf = (text: string | undefined): string | null =>
  text !== undefined && text.length <= 300 && /^\/dashboard\/grant\?[\w.~%+=&-]+$/.test(text) ? text : null;
