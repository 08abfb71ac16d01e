import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { askNode, type NodeAnswer } from './ethereum-node.ts';

// A contract wallet verifies signatures on chain (EIP-1271), so we call the contract through the operator's nodes.
// Without nodes, contract wallets are refused. Contracts that are not deployed yet (ERC-6492) are not supported.

const TIMEOUT_MS = 3_000;
/** The selector of isValidSignature(bytes32,bytes); the contract returns it, padded, to accept. */
const SELECTOR = '0x1626ba7e';
const ACCEPTED = SELECTOR.padEnd(66, '0');
/** Code prefix of an account that delegates to a contract (EIP-7702). It still has a private key, which must sign. */
const DELEGATION = '0xef0100';

export interface SignedMessage {
  address: string;
  message: string;
  signature: string;
}

/** Whether the contract accepts, according to all configured nodes; 503 if one does not answer or they differ. */
export async function contractAccepts(context: AccountsContext, signed: SignedMessage): Promise<boolean> {
  const { contractNodes, chainId } = context.config.wallets;
  if (contractNodes.length === 0 || !/^0x(?:[0-9a-f]{2})*$/i.test(signed.signature)) return false;
  const call = { to: signed.address, data: await callData(signed) };
  try {
    const verdicts = await Promise.all(contractNodes.map((url) => nodeAccepts(url, chainId, call)));
    if (new Set(verdicts).size === 1) return verdicts[0] === true;
    context.log.error({ address: signed.address }, 'wallet.nodes_disagreed');
    throw new Error('the nodes disagree about a contract wallet');
  } catch (cause) {
    throw new ApiError('service_unavailable', {
      detail: 'The signature of this wallet cannot be checked right now.',
      retryAfterSeconds: 5,
      cause,
    });
  }
}

async function nodeAccepts(url: string, chainId: number, call: { to: string; data: string }): Promise<boolean> {
  const [chain, code, answer] = await Promise.all([
    askNode(url, 'eth_chainId', [], TIMEOUT_MS),
    askNode(url, 'eth_getCode', [call.to, 'latest'], TIMEOUT_MS),
    askNode(url, 'eth_call', [call, 'latest'], TIMEOUT_MS),
  ]);
  if (chain.result === undefined || Number(chain.result) !== chainId)
    throw new Error('the node is not on the chain of CHAIN_ID');
  if (typeof code.result !== 'string') throw new Error('no answer about the code of the contract');
  if (answer.result === undefined && !isRevert(answer)) throw new Error('no answer from the contract');
  return isContract(code.result) && answer.result === ACCEPTED;
}

const isContract = (code: string): boolean =>
  /^0x(?:[0-9a-f]{2})+$/i.test(code) && !code.toLowerCase().startsWith(DELEGATION);

async function callData({ message, signature }: SignedMessage): Promise<string> {
  const { AbiCoder, concat, hashMessage } = await import('ethers');
  return concat([SELECTOR, AbiCoder.defaultAbiCoder().encode(['bytes32', 'bytes'], [hashMessage(message), signature])]);
}

/** A contract that reverts rejects the signature. Nodes report a revert in different ways. */
const isRevert = ({ error }: NodeAnswer): boolean => error?.code === 3 || /revert/i.test(String(error?.message));
