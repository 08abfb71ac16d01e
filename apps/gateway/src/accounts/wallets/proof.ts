import type { WalletProof, WalletPurpose } from '@eloquentpoll/contracts';
import { consumeNonce, findNonce, type Queries } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { contractAccepts } from './contract-signature.ts';
import { signerOf } from './signer.ts';

// That a wallet signed a challenge of ours. The message has to be the stored one, byte for byte, so nothing in it is
// parsed or compared field by field: siwe writes challenges and judges none (its verify() skips what it is not told,
// and prints failures). Of a failure the caller learns only that it failed.

export interface Wallet {
  /** In its EIP-55 spelling. */
  address: string;
  bytes: Buffer;
  nonce: string;
}

/** The wallet behind a proof that may be used for `purpose`, or a 401. Nothing is used up yet. */
export async function prove(
  context: AccountsContext,
  { message, signature }: WalletProof,
  purpose: WalletPurpose,
): Promise<Wallet> {
  const nonce = /^Nonce: ([0-9A-Za-z]{8,64})$/m.exec(message)?.[1];
  const challenge = nonce === undefined ? null : await findNonce(context.storage, nonce);
  if (!challenge || challenge.message !== message) throw refused();
  if (challenge.purpose !== null && challenge.purpose !== purpose) throw refused();
  const { getAddress, hexlify } = await import('ethers');
  const address = getAddress(hexlify(challenge.address));
  const signed = { address, message, signature };
  if ((await signerOf(message, signature)) !== address && !(await contractAccepts(context, signed))) throw refused();
  return { address, bytes: challenge.address, nonce: challenge.nonce };
}

/**
 * Uses the proof up; a 401 when somebody else has, or when it is too old by now. Belongs into the transaction of what
 * the proof is for, so that it is used up exactly when that happens.
 */
export async function useUp(tx: Queries, { nonce, bytes }: Wallet): Promise<void> {
  if (!(await consumeNonce(tx, nonce, bytes))) throw refused();
}

const refused = (): ApiError =>
  new ApiError('invalid_wallet_signature', {
    detail: 'The signature is wrong, was used before, is for something else, or came after 5 minutes.',
  });
