import { balanceOf, listIdentities, listKeys, listSavedPanels } from '@eloquentpoll/storage';
import { toBalance } from '../../accounts/balance.ts';
import { currentUser } from '../../accounts/current-user.ts';
import { paymentOnReturn } from '../../payments/card/payment-return.ts';
import type { PagesContext } from '../context.ts';
import type { AccountView, PaymentReturn } from './account.ts';
import { readRecentPolls } from './read-polls.ts';

export interface AccountQuery {
  checkout: 'success' | 'cancelled' | null;
  looks: number;
}

/** Null if the account was deleted meanwhile. */
export async function accountView(
  context: PagesContext,
  accountId: string,
  { checkout, looks }: AccountQuery,
): Promise<AccountView | null> {
  const { storage } = context;
  // Must come first, because it changes the balance.
  const payment = checkout && (await paymentReturn(context, accountId, checkout, looks));
  const [user, balance, identities, keys, panels, recent] = await Promise.all([
    currentUser(storage, accountId),
    balanceOf(storage, accountId),
    listIdentities(storage, accountId),
    listKeys(storage, accountId),
    listSavedPanels(storage, accountId),
    readRecentPolls(context, accountId),
  ]);
  if (!user || !balance) return null;
  const wallets = identities.flatMap((identity) => (identity.kind === 'wallet' ? [identity.address] : []));
  return {
    user,
    wallets: await Promise.all(wallets.map(pollsAddress)),
    providers: identities.flatMap((identity) => (identity.kind === 'oidc' ? [identity.issuer] : [])),
    balance: toBalance(balance),
    level: balance,
    heldU: balance.heldU + balance.reservedU,
    hasKey: keys.some(({ revokedAt }) => revokedAt === null),
    panels,
    recent,
    payment,
  };
}

async function paymentReturn(
  context: PagesContext,
  accountId: string,
  checkout: 'success' | 'cancelled',
  looks: number,
): Promise<PaymentReturn | null> {
  if (checkout === 'cancelled') return { kind: 'cancelled' };
  const newest = await paymentOnReturn(context, accountId);
  if (!newest || newest.state === 'expired') return null;
  if (newest.state === 'credited') return { kind: 'credited', amountCents: newest.amountCents };
  return { kind: 'waiting', looks };
}

async function pollsAddress(bytes: Buffer): Promise<string> {
  const { getAddress } = await import('ethers');
  return getAddress(`0x${bytes.toString('hex')}`);
}
