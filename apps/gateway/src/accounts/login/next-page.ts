const PAGE = /^\/dashboard\/(?:grant\?[\w.~%+=&-]+|(?!grant$)[a-z]+)$/;

/** Where a login may lead besides the dashboard: the page that it interrupted, by a path of ours. */
export const nextPageOf = (text: string | undefined): string | null =>
  text !== undefined && text.length <= 300 && PAGE.test(text) ? text : null;
