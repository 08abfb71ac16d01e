import type { HDNodeWallet } from 'ethers';

/** A user of the service, and the expected state of the account. */
export interface DayUser {
  readonly name: string;
  readonly accountId: string;
  /** A key of the account without limits. */
  readonly key: string;
  readonly cookie: string;
  /** Signs payments and logins; null for users of the identity provider. */
  readonly wallet: HDNodeWallet | null;
  /** In micro-USD: what the user paid in, and what the answers said was charged. */
  creditedU: number;
  chargedU: number;
  /** Results that can be read, rated or deleted. */
  readonly results: { resultId: string; sessionId: string | null; question: string }[];
  /** How many deletions of each result were begun. */
  readonly deletions: Map<string, number>;
}

const MAX_RESULTS = 50;

export const inMicroUsd = (usd: number): number => Math.round(usd * 1e6);

export function remember(person: DayUser, result: DayUser['results'][number]): void {
  person.results.push(result);
  if (person.results.length > MAX_RESULTS) person.results.shift();
}

/** Call before sending the deletion, because the result may be gone from then on. */
export function beginDeletion(person: DayUser, resultIds: readonly string[]): void {
  for (const id of resultIds) {
    person.deletions.set(id, (person.deletions.get(id) ?? 0) + 1);
    const at = person.results.findIndex(({ resultId }) => resultId === id);
    if (at >= 0) person.results.splice(at, 1);
  }
}

/**
 * A result may be missing only after a deletion was begun. `own`: deletions by this very request, which do not count.
 */
export const missingProblems = (person: DayUser, resultId: string, status: number, own = 0): string[] =>
  status === 404 && (person.deletions.get(resultId) ?? 0) <= own ? [`${resultId} is missing and was not deleted`] : [];
