import { Type } from '@sinclair/typebox';
import type { App } from '../app.ts';
import { ProviderApiError } from '../errors.ts';
import { type LogFilter, type PlayChain, playChain } from './chain.ts';
import { BALANCE_OF, CHAIN_ID, callToken, TOKEN } from './token.ts';

// The simulated chain behind JSON-RPC, and a facilitator that passes every payment on to it. The service validates
// payments before they arrive here.

const Question = Type.Object({
  id: Type.Unknown(),
  method: Type.String(),
  params: Type.Array(Type.Any()),
});

const hex = (bytes: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$` });

const Settlement = Type.Object({
  paymentPayload: Type.Object({
    payload: Type.Object({
      authorization: Type.Object({
        from: hex(20),
        to: hex(20),
        value: Type.String({ pattern: '^[0-9]{1,30}$' }),
        nonce: hex(32),
      }),
    }),
  }),
});

export function chainRoutes(app: App): void {
  const chain = playChain();

  app.post('/chain', { schema: { body: Question } }, async ({ body: { id, method, params } }) => {
    const answer = ANSWERS[method];
    if (!answer) return { jsonrpc: '2.0', id, error: { code: -32_601, message: `${method} is not simulated` } };
    const result = answer(chain, params);
    if (result === undefined) return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'not kept' } };
    return { jsonrpc: '2.0', id, result };
  });

  app.post('/facilitator/verify', async () => ({ isValid: true }));

  app.post('/facilitator/settle', { schema: { body: Settlement } }, async ({ body }) => {
    const { from, to, value, nonce } = body.paymentPayload.payload.authorization;
    const transaction = chain.settle(TOKEN, { from, to, nonce, value: BigInt(value) });
    return transaction ? { success: true, transaction } : { success: false, errorReason: 'authorization_used' };
  });
}

const ANSWERS: Record<string, (chain: PlayChain, params: readonly unknown[]) => unknown> = {
  eth_chainId: () => `0x${CHAIN_ID.toString(16)}`,
  eth_blockNumber: (chain) => chain.head(),
  eth_getBlockByNumber: (chain) => chain.newest(),
  eth_call: (chain, [call, block]) => {
    const data = textIn(call, 'data');
    // Balances never change here, so those of earlier blocks would not match the transfers.
    return data.startsWith(BALANCE_OF) && block !== 'latest' ? undefined : callToken(data, chain.isUsed);
  },
  eth_getTransactionReceipt: (chain, [hash]) => chain.receipt(String(hash)),
  eth_getLogs: (chain, [filter]) => {
    const { topics } = filter as Partial<LogFilter>;
    if (!topics?.every((topic) => topic === null || typeof topic === 'string'))
      throw new ProviderApiError(400, 'topics must be strings or null');
    const [address, fromBlock] = [textIn(filter, 'address'), textIn(filter, 'fromBlock')];
    return chain.logs({ topics, address, fromBlock, toBlock: textIn(filter, 'toBlock') });
  },
};

function textIn(object: unknown, name: string): string {
  const value = typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : null;
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value))
    throw new ProviderApiError(400, `${name} must be hexadecimal`);
  return value;
}
