import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { askNode, type NodeAnswer } from './ethereum-node.ts';

// Contract wallets have no key: their contract says whether it accepts a signature (EIP-1271). It is asked through the
// operator's node, at a fixed address, within seconds and without a transaction; without a node there are no contract
// wallets. A contract that is not deployed yet (ERC-6492) cannot be asked.

const TIMEOUT_MS = 3_000;
/** isValidSignature(bytes32,bytes), and what it returns for yes. */
const MAGIC = '0x1626ba7e';
const YES = MAGIC.padEnd(66, '0');

export interface SignedMessage {
  address: string;
  message: string;
  signature: string;
}

/** Whether the contract at the address accepts the signature; 503 when it could not be asked. */
export async function contractAccepts(context: AccountsContext, signed: SignedMessage): Promise<boolean> {
  const { rpcUrl, chainId } = context.config.wallets;
  if (rpcUrl === undefined || !/^0x(?:[0-9a-f]{2})*$/i.test(signed.signature)) return false;
  const call = { to: signed.address, data: await callData(signed) };
  try {
    const [chain, answer] = await Promise.all([
      askNode(rpcUrl, 'eth_chainId', [], TIMEOUT_MS),
      askNode(rpcUrl, 'eth_call', [call, 'latest'], TIMEOUT_MS),
    ]);
    if (chain.result === undefined || Number(chain.result) !== chainId) throw new Error('not the chain of CHAIN_ID');
    if (answer.result === undefined && !isRevert(answer)) throw new Error('no answer from the contract');
    return answer.result === YES;
  } catch (cause) {
    throw new ApiError('service_unavailable', {
      detail: 'The signature of this wallet cannot be checked right now.',
      retryAfterSeconds: 5,
      cause,
    });
  }
}

async function callData({ message, signature }: SignedMessage): Promise<string> {
  const { AbiCoder, concat, hashMessage } = await import('ethers');
  return concat([MAGIC, AbiCoder.defaultAbiCoder().encode(['bytes32', 'bytes'], [hashMessage(message), signature])]);
}

/** A contract that throws says no; nodes write that differently. */
const isRevert = ({ error }: NodeAnswer): boolean => error?.code === 3 || /revert/i.test(String(error?.message));
