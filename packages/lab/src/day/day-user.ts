import type { HDNodeWallet } from 'ethers';

/** A user of the service, and what the account must hold. */
export interface DayUser {
  readonly name: string;
  readonly accountId: string;
  /** Of the account, without limits. */
  readonly key: string;
  readonly cookie: string;
  /** Signs payments and logins; null for who came by the identity provider. */
  readonly wallet: HDNodeWallet | null;
  /** In micro-USD, as they paid it in and as their answers said. */
  creditedU: number;
  chargedU: number;
  /** Results that can be read, marked as right, or deleted. */
  readonly results: { resultId: string; sessionId: string | null; question: string }[];
  /** Results whose deletion was begun, and how often. */
  readonly deletions: Map<string, number>;
}

const MAX_RESULTS = 50;

export const inMicroUsd = (usd: number): number => Math.round(usd * 1e6);

export function remember(person: DayUser, result: DayUser['results'][number]): void {
  person.results.push(result);
  if (person.results.length > MAX_RESULTS) person.results.shift();
}

/** Before its deletion is sent: from then on it may be gone. */
export function beginDeletion(person: DayUser, resultIds: readonly string[]): void {
  for (const id of resultIds) {
    person.deletions.set(id, (person.deletions.get(id) ?? 0) + 1);
    const at = person.results.findIndex(({ resultId }) => resultId === id);
    if (at >= 0) person.results.splice(at, 1);
  }
}

/** What is wrong with this answer for a result of theirs: it is missing only after a deletion, beside `own` of who asks. */
export const missingProblems = (person: DayUser, resultId: string, status: number, own = 0): string[] =>
  status === 404 && (person.deletions.get(resultId) ?? 0) <= own ? [`${resultId} is missing and was not deleted`] : [];
