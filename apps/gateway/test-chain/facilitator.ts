import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(chunks).toString());
    const answer =
      request.url === '/verify'
        ? await facilitator.verify(paymentPayload, paymentRequirements)
        : await facilitator.settle(paymentPayload, paymentRequirements);
    if (request.url === '/settle') await state.afterSettling();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, state };
}
