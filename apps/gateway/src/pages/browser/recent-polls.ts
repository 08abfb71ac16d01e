// This device's free polls, which belong to no account. They are kept in the browser and never sent.

export interface RecentPoll {
  /** Path of its page. */
  url: string;
  question: string;
  options: readonly string[];
  at: string;
  /** Null for a tie or no answer; missing while it is unknown. */
  winner?: string | null;
}

const KEY = 'eloquentpoll.recent';
const MAX_KEPT = 30;

/** Newest first. */
export function recentPolls(): RecentPoll[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(read) ? read.filter(isRecentPoll) : [];
  } catch {
    return [];
  }
}

/** A poll that is already stored is updated with the new fields. */
export function rememberPoll(poll: Omit<RecentPoll, 'at'>): void {
  const url = new URL(poll.url, location.origin).pathname;
  const polls = recentPolls();
  const known = polls.find((each) => each.url === url);
  const kept = [
    { ...known, ...poll, url, at: known?.at ?? new Date().toISOString() },
    ...polls.filter((each) => each.url !== url),
  ];
  try {
    localStorage.setItem(KEY, JSON.stringify(kept.slice(0, MAX_KEPT)));
  } catch {
    // If storage is full or forbidden, the polls are not remembered.
  }
}

export function forgetPolls(): void {
  localStorage.removeItem(KEY);
}

const isRecentPoll = (value: unknown): value is RecentPoll =>
  typeof value === 'object' &&
  value !== null &&
  'url' in value &&
  typeof value.url === 'string' &&
  /^\/result\/EP-[\w-]+$/.test(value.url) &&
  'question' in value &&
  typeof value.question === 'string' &&
  'options' in value &&
  Array.isArray(value.options) &&
  value.options.every((option) => typeof option === 'string') &&
  'at' in value &&
  typeof value.at === 'string';
