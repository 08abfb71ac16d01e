import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { askNode, type NodeAnswer } from './ethereum-node.ts';

// A contract wallet verifies signatures on chain (EIP-1271): we call the contract through the operator's node. Without a
// node there are no contract wallets; contracts that are not deployed yet (ERC-6492) are not supported.

const TIMEOUT_MS = 3_000;
/** The selector of isValidSignature(bytes32,bytes); the contract returns it, padded, to accept. */
const SELECTOR = '0x1626ba7e';
const ACCEPTED = SELECTOR.padEnd(66, '0');

export interface SignedMessage {
  address: string;
  message: string;
  signature: string;
}

/** 503 when the node or the contract does not answer. */
export async function contractAccepts(context: AccountsContext, signed: SignedMessage): Promise<boolean> {
  const { rpcUrl, chainId } = context.config.wallets;
  if (rpcUrl === undefined || !/^0x(?:[0-9a-f]{2})*$/i.test(signed.signature)) return false;
  const call = { to: signed.address, data: await callData(signed) };
  try {
    const [chain, answer] = await Promise.all([
      askNode(rpcUrl, 'eth_chainId', [], TIMEOUT_MS),
      askNode(rpcUrl, 'eth_call', [call, 'latest'], TIMEOUT_MS),
    ]);
    if (chain.result === undefined || Number(chain.result) !== chainId)
      throw new Error('the node is not on the chain of CHAIN_ID');
    if (answer.result === undefined && !isRevert(answer)) throw new Error('no answer from the contract');
    return answer.result === ACCEPTED;
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
  return concat([SELECTOR, AbiCoder.defaultAbiCoder().encode(['bytes32', 'bytes'], [hashMessage(message), signature])]);
}

/** A contract that reverts rejects the signature. Nodes report a revert in different ways. */
const isRevert = ({ error }: NodeAnswer): boolean => error?.code === 3 || /revert/i.test(String(error?.message));
