import { loopbackServer } from '@eloquentpoll/testkit/fakes/loopback-server';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import type { Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import type { Chain } from './chain.ts';

/** A facilitator as others run it: the reference one over HTTP, with a wallet of its own on the chain. */
export async function openFacilitator(t: Test, chain: Chain) {
  const account = privateKeyToAccount(await chain.signerKey());
  const client = chain.clientOf(account);
  // biome-ignore lint/suspicious/noExplicitAny: x402 hands any ABI on, and viem infers its types from it.
  const any = (value: unknown) => value as any;
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (call) => client.readContract(any(call)),
    writeContract: (call) => client.writeContract(any(call)),
    verifyTypedData: (signed) => client.verifyTypedData(any(signed)),
    sendTransaction: (transaction) => client.sendTransaction(any(transaction)),
    waitForTransactionReceipt: (transaction) => client.waitForTransactionReceipt(transaction),
    getCode: (contract) => client.getCode(contract),
  });
  const facilitator = registerExactEvmScheme(new x402Facilitator(), { signer, networks: `eip155:${chain.chainId}` });
  const state = { afterSettling: async (): Promise<void> => {} };

  const url = await loopbackServer(t, async ({ request, body, reply }) => {
    const { paymentPayload, paymentRequirements } = JSON.parse(body);
    if (request.url === '/verify') return reply(200, await facilitator.verify(paymentPayload, paymentRequirements));
    const settled = await facilitator.settle(paymentPayload, paymentRequirements);
    await state.afterSettling();
    return reply(200, settled);
  });
  return { url, state };
}
