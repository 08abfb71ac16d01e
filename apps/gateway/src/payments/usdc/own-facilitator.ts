import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '@eloquentpoll/ops';
import { type Storage, withLock } from '@eloquentpoll/storage';
import type { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { Abi, VerifyTypedDataParameters } from 'viem';
import type { DepositSettings } from '../../config/payment-settings.ts';
import { madeOnce } from '../../http/made-once.ts';
import { type Facilitator, type FacilitatorRequest, facilitatorRequest, hashOf } from './facilitator.ts';
import { errorNames } from './refusal-reasons.ts';

// A facilitator in this process: the operator's wallet submits payments and pays their gas. Its transactions have
// consecutive nonces, so all gateways together send one at a time; confirmations are awaited in parallel. The library
// turns every error into a refusal of the payment, so the errors of the wallet are logged here.

const RPC_TIMEOUT_MS = 5_000;
const CONFIRMATION_TIMEOUT_MS = 8_000;
const LOCK_WAIT_TIMEOUT_MS = 10_000;
/** A lock that is held longer is taken over, because its holder has crashed. */
const LOCK_TERM_MS = 30_000;
const MAX_WAITING = 50;

export function ownFacilitator(
  settings: DepositSettings,
  key: `0x${string}`,
  { storage, log }: { storage: Storage; log: Logger },
): Facilitator {
  const serialized = serialize(storage);
  const submitted: Serialized = (work) =>
    serialized(work).catch((error: unknown) => {
      log.warn({ errors: errorNames(error) }, 'deposit.submission_failed');
      throw error;
    });
  const open = madeOnce(() => openFacilitator(settings, key, submitted));

  return {
    async verify(payment, terms) {
      const facilitator = await open();
      const { isValid, invalidReason } = await facilitator.verify(...parts(facilitatorRequest(payment, terms)));
      return isValid ? { ok: true } : { ok: false, reason: String(invalidReason) };
    },
    async settle(payment, terms) {
      const facilitator = await open();
      const answer = await facilitator.settle(...parts(facilitatorRequest(payment, terms)));
      return answer.success
        ? { ok: true, ...hashOf(answer.transaction) }
        : { ok: false, reason: String(answer.errorReason) };
    },
  };
}

/** Casts, because x402Facilitator accepts both versions but its types only version 2. */
const parts = ({ paymentPayload, paymentRequirements }: FacilitatorRequest) =>
  [paymentPayload as PaymentPayload, paymentRequirements as PaymentRequirements] as const;

async function openFacilitator(
  { rpcUrl, chainId }: DepositSettings,
  key: `0x${string}`,
  submitted: Serialized,
): Promise<x402Facilitator> {
  const { x402Facilitator } = await import('@x402/core/facilitator');
  const { toFacilitatorEvmSigner } = await import('@x402/evm');
  const { registerExactEvmScheme } = await import('@x402/evm/exact/facilitator');
  const { createWalletClient, defineChain, http, publicActions } = await import('viem');
  const { privateKeyToAccount } = await import('viem/accounts');

  const account = privateKeyToAccount(key);
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({ id: chainId, name: 'chain', nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
  const transport = http(rpcUrl, { timeout: RPC_TIMEOUT_MS, retryCount: 1, fetchOptions: { redirect: 'error' } });
  const client = createWalletClient({ account, chain, transport, pollingInterval: 250 }).extend(publicActions);
  // Wrapped one by one, because viem infers argument types from the ABI and x402 passes any ABI.
  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: ({ abi, ...call }) => client.readContract({ ...call, abi: abi as Abi }),
      // Each gets the nonce after those that are still pending, and returns once the node has the transaction.
      writeContract: ({ abi, ...call }) => submitted(() => client.writeContract({ ...call, abi: abi as Abi })),
      verifyTypedData: (signed) => client.verifyTypedData(signed as VerifyTypedDataParameters),
      sendTransaction: (transaction) => submitted(() => client.sendTransaction(transaction)),
      waitForTransactionReceipt: (transaction) => client.waitForTransactionReceipt(transaction),
      getCode: (contract) => client.getCode(contract),
    },
    { confirmationTimeoutMs: CONFIRMATION_TIMEOUT_MS },
  );
  return registerExactEvmScheme(new x402Facilitator(), { signer, networks: `eip155:${chainId}` });
}

type Serialized = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs one task at a time: queued in this process, then under a lock across gateways. */
function serialize(storage: Storage): Serialized {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async function serialized<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING) throw new Error('too many settlements are waiting');
    waiting++;
    const result = last.then(() => serializeAcrossReplicas(storage, work)).finally(() => waiting--);
    last = result.catch(() => {});
    return result;
  };
}

async function serializeAcrossReplicas<T>(storage: Storage, work: () => Promise<T>): Promise<T> {
  let done: { value: T } | undefined;
  for (const until = Date.now() + LOCK_WAIT_TIMEOUT_MS; Date.now() < until; ) {
    const isAcquired = await withLock(storage, 'signer', LOCK_TERM_MS, async () => {
      done = { value: await work() };
    });
    if (isAcquired && done) return done.value;
    await wait(50 + Math.random() * 100);
  }
  throw new Error('timed out waiting for other settlements');
}
