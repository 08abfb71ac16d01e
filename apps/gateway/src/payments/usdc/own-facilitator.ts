import { setTimeout as wait } from 'node:timers/promises';
import { type Storage, withLock } from '@eloquentpoll/storage';
import type { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { Abi, VerifyTypedDataParameters } from 'viem';
import type { DepositSettings } from '../../config/payment-settings.ts';
import { type Facilitator, hashOf, type Submission, submissionOf } from './facilitator.ts';

// A facilitator of our own: a wallet of the operator that hands payments to the chain and pays their fees. Its
// transactions are numbered, so one is sent at a time, over all replicas.

const RPC_MS = 5_000;
const CONFIRMATION_MS = 8_000;
/** How long a settlement may wait for its turn, and how long one is believed to be under way. */
const TURN_MS = 10_000;
const PATIENCE_MS = 30_000;
const MOST_WAITING = 10;

export function ownFacilitator(settings: DepositSettings, key: `0x${string}`, storage: Storage): Facilitator {
  let opened: Promise<x402Facilitator> | undefined;
  const open = () => {
    opened ??= openFacilitator(settings, key).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const inTurn = turns(storage);

  return {
    async verify(payment, terms) {
      const facilitator = await open();
      const { isValid, invalidReason } = await facilitator.verify(...parts(submissionOf(payment, terms)));
      return isValid ? { ok: true } : { ok: false, reason: String(invalidReason) };
    },
    async settle(payment, terms) {
      const facilitator = await open();
      const answer = await inTurn(() => facilitator.settle(...parts(submissionOf(payment, terms))));
      return answer.success
        ? { ok: true, ...hashOf(answer.transaction) }
        : { ok: false, reason: String(answer.errorReason) };
    },
  };
}

/** It takes both versions, and its types know of one. */
const parts = ({ paymentPayload, paymentRequirements }: Submission) =>
  [paymentPayload as PaymentPayload, paymentRequirements as PaymentRequirements] as const;

async function openFacilitator({ rpcUrl, chainId }: DepositSettings, key: `0x${string}`): Promise<x402Facilitator> {
  const { x402Facilitator } = await import('@x402/core/facilitator');
  const { toFacilitatorEvmSigner } = await import('@x402/evm');
  const { registerExactEvmScheme } = await import('@x402/evm/exact/facilitator');
  const { createWalletClient, defineChain, http, publicActions } = await import('viem');
  const { privateKeyToAccount } = await import('viem/accounts');

  const account = privateKeyToAccount(key);
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({ id: chainId, name: 'chain', nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
  const transport = http(rpcUrl, { timeout: RPC_MS, retryCount: 1, fetchOptions: { redirect: 'error' } });
  const client = createWalletClient({ account, chain, transport, pollingInterval: 250 }).extend(publicActions);
  // One by one, because viem infers its types from the ABI and x402 hands any ABI on.
  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: ({ abi, ...call }) => client.readContract({ ...call, abi: abi as Abi }),
      writeContract: ({ abi, ...call }) => client.writeContract({ ...call, abi: abi as Abi }),
      verifyTypedData: (signed) => client.verifyTypedData(signed as VerifyTypedDataParameters),
      sendTransaction: (transaction) => client.sendTransaction(transaction),
      waitForTransactionReceipt: (transaction) => client.waitForTransactionReceipt(transaction),
      getCode: (contract) => client.getCode(contract),
    },
    { confirmationTimeoutMs: CONFIRMATION_MS },
  );
  return registerExactEvmScheme(new x402Facilitator(), { signer, networks: `eip155:${chainId}` });
}

/** One at a time: first in this process, then among all of them. */
function turns(storage: Storage) {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= MOST_WAITING) throw new Error('too many settlements are waiting');
    waiting++;
    const turn = last.then(() => amongAll(storage, work)).finally(() => waiting--);
    last = turn.catch(() => {});
    return turn;
  };
}

async function amongAll<T>(storage: Storage, work: () => Promise<T>): Promise<T> {
  let done: { value: T } | undefined;
  for (const until = Date.now() + TURN_MS; Date.now() < until; ) {
    const mine = await withLock(storage, 'signer', PATIENCE_MS, async () => {
      done = { value: await work() };
    });
    if (mine && done) return done.value;
    await wait(50 + Math.random() * 100);
  }
  throw new Error('other settlements took too long');
}
