import type { WalletProof, WalletPurpose } from '@eloquentpoll/contracts';
import {
  consumeNonce,
  findNonce,
  hasOwnKey,
  nameOfIdentity,
  noteOwnKey,
  type Queries,
  refuseMovedName,
} from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { bytesOf } from './address.ts';
import { contractAccepts } from './contract-signature.ts';
import { signerOf } from './signer.ts';

// Verifies a signed challenge by comparing the whole message with the stored one. siwe is used only to write
// challenges: its verify() ignores fields that are not passed, and prints failures. All failures get the same 401.

export interface ProvenWallet {
  /** In EIP-55 form. */
  address: string;
  bytes: Buffer;
  nonce: string;
  /** Signed with the private key of the address; false if a contract accepted the signature. */
  isByOwnKey: boolean;
}

/** The wallet that signed, or a 401. Does not consume the proof. */
export async function verifyProof(
  context: AccountsContext,
  { message, signature }: WalletProof,
  purpose: WalletPurpose,
): Promise<ProvenWallet> {
  await refuseMoved(context, message);
  const nonce = /^Nonce: ([0-9A-Za-z]{8,64})$/m.exec(message)?.[1];
  const challenge = nonce === undefined ? null : await findNonce(context.storage, nonce);
  if (!challenge || challenge.message !== message) throw invalidProof();
  // The message of a challenge without a purpose does not mention deletion.
  const isForAny = challenge.purpose === null && purpose !== 'delete';
  if (!isForAny && challenge.purpose !== purpose) throw invalidProof();
  const { getAddress, hexlify } = await import('ethers');
  const address = getAddress(hexlify(challenge.address));
  const wallet = { address, bytes: challenge.address, nonce: challenge.nonce };
  if ((await signerOf(message, signature)) === address) return { ...wallet, isByOwnKey: true };
  const mayBeContract = !(await hasOwnKey(context.storage, wallet.bytes));
  if (mayBeContract && (await contractAccepts(context, { address, message, signature })))
    return { ...wallet, isByOwnKey: false };
  throw invalidProof();
}

/** If the wallet's account has moved, its challenge was made in the other cell. */
async function refuseMoved({ storage }: AccountsContext, message: string): Promise<void> {
  const [address] = /^0x[0-9a-fA-F]{40}$/m.exec(message) ?? [];
  if (address) await refuseMovedName(storage, nameOfIdentity({ kind: 'wallet', address: bytesOf(address) }));
}

/** 401 if the proof was consumed before or has expired. Call it in the transaction of the proven action. */
export async function consumeProof(tx: Queries, { nonce, bytes, isByOwnKey }: ProvenWallet): Promise<void> {
  if (!(await consumeNonce(tx, nonce, bytes))) throw invalidProof();
  if (isByOwnKey) await noteOwnKey(tx, bytes);
}

const invalidProof = (): ApiError =>
  new ApiError('invalid_wallet_signature', {
    detail: 'The signature is wrong, was used before, is for something else, or came after 5 minutes.',
  });
