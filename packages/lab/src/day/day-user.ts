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
}

const MAX_RESULTS = 50;

export const inMicroUsd = (usd: number): number => Math.round(usd * 1e6);

export function remember(person: DayUser, result: DayUser['results'][number]): void {
  person.results.push(result);
  if (person.results.length > MAX_RESULTS) person.results.shift();
}
