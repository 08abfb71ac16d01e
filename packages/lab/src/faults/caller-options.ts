import type { Chance } from '../terminal/chance.ts';
import type { Recorder } from './operations.ts';
import type { Gateway } from './request.ts';

// What callers are given: accounts, gateways, and where to record what they do.

export interface CallerAccount {
  id: string;
  key: string;
  cookie: string;
}

export interface LimitedKeyOfCaller {
  id: string;
  key: string;
}

/** What callers need in campaigns with webhooks, key limits and deletions. */
export interface PromisedMeans {
  /** Keys with a limit, by account. */
  readonly limitedKeys: ReadonlyMap<string, readonly LimitedKeyOfCaller[]>;
  /** A webhook address of the account. */
  hookOf(accountId: string): { path: string; url: string };
  /** Opens an account that nothing else uses. */
  openAccount(): Promise<CallerAccount>;
  /** Registers a read to be repeated at the end, when everything is repaired. */
  later(read: () => Promise<void>): void;
}

export interface CallersOptions {
  recorder: Recorder;
  gateways: readonly Gateway[];
  accounts: readonly CallerAccount[];
  chance: Chance;
  /** After it is aborted, no answer can become definite. */
  quit: AbortSignal;
  herd: number;
  /** The share of polls with the flex tier. */
  flexShare?: number | undefined;
  /** Null if the campaign has no webhooks, key limits and deletions. */
  promised: PromisedMeans | null;
}
