import { randomBytes, randomUUID } from 'node:crypto';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@eloquentpoll/gateway/api-key';
import { createLogin, LOGIN_COOKIE } from '@eloquentpoll/gateway/login-cookie';
import { createAccount, creditAccount, insertKey, linkIdentity, StorageUnavailable } from '@eloquentpoll/storage';
import { Wallet } from 'ethers';
import type { FuzzedService } from '../fuzzed-service.ts';
import type { Draws } from './draws.ts';
import type { Party } from './step.ts';

// The two accounts of a sequence, with their present and former keys and cookies.

export type KeyAccess = 'full' | 'restricted' | 'ended';

export interface Held {
  readonly value: string;
  /** Null if the answer with the key did not contain its id. */
  readonly id: string | null;
  access: KeyAccess;
  readOnly: boolean;
}

export interface AccountHolder {
  readonly party: Party;
  readonly accountId: string;
  /** Included in texts that no other account may see. */
  readonly mark: string;
  readonly keys: Held[];
  readonly cookies: Held[];
  wallet: Wallet | null;
  /** The last message signed by its wallet, by operation. */
  readonly proofs: Map<string, { message: string; signature: string }>;
  isDeleted: boolean;
  /** The maximum that its balance may ever have reached. */
  creditedU: number;
}

const BALANCE_U = 500_000_000;

export interface People extends Readonly<Record<Party, AccountHolder>> {
  key(person: AccountHolder, wanted: KeyAccess, draws: Draws): Promise<Held | null>;
  cookie(person: AccountHolder, wanted: KeyAccess): Promise<Held | null>;
  walletOf(person: AccountHolder): Promise<Wallet>;
}

let marks = 0;

/** A busy machine may be too slow to connect in time. */
export async function retriedWhileBusy<T>(make: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof StorageUnavailable) || tries === 1) throw error;
    return retriedWhileBusy(make, tries - 1);
  }
}

export async function createPeople(service: FuzzedService, accountIds: Set<string>): Promise<People> {
  const { storage, config } = service.gateway;
  async function keyFor(accountId: string): Promise<Held> {
    const value = newApiKey();
    const { id } = await insertKey(storage, {
      ...{ accountId, hash: hashApiKey(config.keyPepper, value), prefix: apiKeyPrefix(value) },
    });
    return { value, id, access: 'full', readOnly: false };
  }
  async function person(party: Party): Promise<AccountHolder> {
    const accountId = await createAccount(storage);
    accountIds.add(accountId);
    const mark = `zq${party}${(++marks).toString(36)}x`;
    const credit = { accountId, amountU: BigInt(BALANCE_U), source: 'operator' as const, idem: randomUUID() };
    const [key] = await Promise.all([keyFor(accountId), creditAccount(storage, credit)]);
    const none = { cookies: [], wallet: null, proofs: new Map(), isDeleted: false };
    return { party, accountId, mark, keys: [key], creditedU: BALANCE_U, ...none };
  }
  const [a, b] = await Promise.all([person('a'), person('b')]);
  return {
    a,
    b,
    async key(owner, wanted, draws) {
      const known = owner.keys.filter(({ access }) => access === wanted);
      if (known.length > 0) return draws.oneIn(4) ? draws.of(known) : known[0]!;
      if (wanted !== 'full' || owner.isDeleted) return null;
      const made = await keyFor(owner.accountId);
      owner.keys.push(made);
      return made;
    },
    async cookie(owner, wanted) {
      const known = owner.cookies.find(({ access }) => access === wanted);
      if (known || wanted !== 'full' || owner.isDeleted) return known ?? null;
      const value = `${LOGIN_COOKIE}=${await createLogin(service.gateway, { accountId: owner.accountId })}`;
      const made: Held = { value, id: null, access: 'full', readOnly: false };
      owner.cookies.push(made);
      return made;
    },
    async walletOf(owner) {
      if (owner.wallet) return owner.wallet;
      const wallet = new Wallet(`0x${randomBytes(32).toString('hex')}`);
      owner.wallet = wallet;
      const address = Buffer.from(wallet.address.slice(2), 'hex');
      if (!owner.isDeleted) await linkIdentity(storage, owner.accountId, { kind: 'wallet', address });
      return wallet;
    },
  };
}
