import { createHmac } from 'node:crypto';
import type { WalletChallenge, WalletPurpose } from '@eloquentpoll/contracts';
import { issueNonce, nameOfIdentity, refuseMovedName } from '@eloquentpoll/storage';
import { clientNetwork } from '../../http/rate-limits/client-network.ts';
import type { AccountsContext } from '../context.ts';
import { bytesOf } from './address.ts';

// Issues Sign-In with Ethereum messages. The text is stored and must come back byte for byte, so one comparison checks
// domain, URI, chain, nonce, statement and times. It reveals no account, except that one has moved to another cell.

const LIFETIME_S = 300;

const STATEMENTS: Record<WalletPurpose | 'any', string> = {
  any: 'Sign in to EloquentPoll with this wallet, or revoke or rotate its API keys.',
  login: 'Sign in to EloquentPoll with this wallet.',
  revoke: 'Revoke an API key of this wallet on EloquentPoll. This does not sign you in.',
  delete:
    'Delete the EloquentPoll account of this wallet with everything in it. This cannot be undone, and does not sign you in.',
  rotate: 'Revoke all API keys of this wallet on EloquentPoll and issue a new one. This does not sign you in.',
};

export interface ChallengeRequest {
  /** In EIP-55 form. */
  address: string;
  purpose: WalletPurpose | null;
  /** The client's IP address. */
  ip: string;
}

export async function issueChallenge(
  context: AccountsContext,
  { address, purpose, ip }: ChallengeRequest,
): Promise<WalletChallenge> {
  const { config, storage } = context;
  await refuseMovedName(storage, nameOfIdentity({ kind: 'wallet', address: bytesOf(address) }));
  // A CommonJS module: in a bundled chunk only the default export exists.
  const { SiweMessage, generateNonce } = (await import('siwe')).default;
  const nonce = generateNonce();
  const textAt = (issuedAt: Date, expiresAt: Date) =>
    new SiweMessage({
      domain: new URL(config.baseUrl).host,
      address,
      statement: STATEMENTS[purpose ?? 'any'],
      uri: config.baseUrl,
      version: '1',
      chainId: config.wallets.chainId,
      nonce,
      issuedAt: issuedAt.toISOString(),
      expirationTime: expiresAt.toISOString(),
    }).prepareMessage();
  const asker = networkHash(config.keyPepper, ip);
  const challenge = { nonce, address: bytesOf(address), purpose, message: textAt, asker };
  const message = await issueNonce(storage, challenge, LIFETIME_S);
  return { message, nonce };
}

/** Distinguishes client networks without storing their addresses. */
const networkHash = (pepper: string, ip: string): Buffer =>
  createHmac('sha256', pepper)
    .update(`challenge ${clientNetwork(ip)}`)
    .digest()
    .subarray(0, 8);
