// Words that made this code hard to read, and what to write instead (STYLE.md). Identifiers are split first, so that
// `askNobody` and `NOBODY_MS` contain "nobody".

export interface WordRule {
  /** Matched as whole words, ignoring case. */
  words: string;
  instead: string;
}

export const WORD_RULES: readonly WordRule[] = [
  { words: 'whoever|whomever', instead: 'the caller, the client, the worker that ...' },
  { words: 'nobody|no one', instead: 'no caller, no worker, not anyone: say what does not' },
  { words: 'somebody|someone', instead: 'the caller, another account, an operator' },
  { words: 'good[ -]?bye', instead: 'QUIT, close, end of stream' },
  { words: 'told(?! apart)', instead: 'passed, given, published, notified' },
  { words: 'tells?(?!( \\w+){0,3} apart)', instead: 'says, returns, publishes, notifies' },
  { words: 'whispers?', instead: 'the plain verb' },
  { words: 'household', instead: 'process group' },
  { words: 'besieged?s?|besieging', instead: 'run a fault campaign' },
  { words: 'unleash(es|ed)?', instead: 'inject' },
  { words: 'inhabit(s|ed|ants?)?', instead: 'fixtures' },
  { words: 'keepsakes?', instead: 'persisted state' },
  { words: 'fittings?', instead: 'resources' },
  { words: 'desks?', instead: 'handler, service, console' },
  { words: 'doors?', instead: 'entry point, interface' },
  { words: 'rooms?', instead: 'folder, package, space' },
  { words: 'patience', instead: 'TIMEOUT_MS, timeout' },
  { words: 'last words', instead: 'SHUTDOWN_GRACE_MS, last log lines' },
  { words: 'signs? of life', instead: 'keep-alive, heartbeat' },
  { words: '(puts?|up|leaves?) a sign(?!-)|sign s', instead: 'tombstone' },
  { words: 'company', instead: 'limit, concurrency' },
  { words: 'an? words? of|without a word', instead: 'an answer, a message; silently' },
  { words: 'in (\\w+ )?clothes', instead: 'mapped, encoded' },
];

/** Limits are named MAX_ and MIN_. Matched with case, on the unchanged text. */
export const LIMIT_NAMES = /\b(MOST|LEAST|LONGEST|SHORTEST)_[A-Z]|\b[A-Z0-9_]+_(MOST|LEAST)\b/;

export interface AllowedWord {
  path: string;
  /** The text as it is in the line. */
  text: string;
  reason: string;
}

/** Places where one of the words is correct. */
export const ALLOWED: readonly AllowedWord[] = [
  {
    path: 'packages/models/src/prompt-words.ts',
    text: 'if it tells you how to vote',
    reason: 'the prompt that models are sent',
  },
  { path: 'CHANGELOG.md', text: 'policy `nobody`', reason: 'the former name' },
  { path: 'STYLE.md', text: 'nobody "tells", "whispers" or "puts up a', reason: 'names the words to avoid' },
  { path: 'apps/simulator/test/opinions.test.ts', text: 'suits room number', reason: 'a question about rooms' },
  { path: 'packages/lab/test/replay-prices.test.ts', text: 'cross-fitting', reason: 'a term of statistics' },
];
