import type { Test } from 'tap';
import type { FakeChain } from './fake-chain.ts';
import { loopbackServer } from './loopback-server.ts';

// A facilitator that says yes to everything, unless told to misbehave in one of the ways that were seen.

export const SECRET_WORDS = 'ContractFunctionExecutionError: reverted\nargs: (0xsecretwords)';

type Manner =
  | 'kind'
  /** Says that it settled and did not. */
  | 'liar'
  /** Settles and is never heard of again. */
  | 'mute'
  /** Never answers. */
  | 'deaf'
  | 'down'
  | 'huge'
  | 'redirects'
  | 'nonsense';

export async function fakeFacilitator(t: Pick<Test, 'teardown'>, chain: FakeChain) {
  const asked: { operation: string; body: string }[] = [];
  const state: {
    manner: Manner;
    invalid: string | null;
    failure: string | null;
    before: () => void | Promise<void>;
  } = { manner: 'kind', invalid: null, failure: null, before: () => {} };

  const url = await loopbackServer(t, async ({ request, body, response, reply }) => {
    const operation = request.url?.slice(1) ?? '';
    asked.push({ operation, body });
    if (state.manner === 'down') return void request.socket.destroy();
    if (state.manner === 'deaf') return;
    if (state.manner === 'huge') return reply(200, { isValid: true, success: true, padding: 'x'.repeat(70_000) });
    if (state.manner === 'redirects') return void response.writeHead(307, { location: '/elsewhere' }).end();
    if (state.manner === 'nonsense') return void response.end('<html>');
    if (operation === 'verify') {
      return state.invalid === null
        ? reply(200, { isValid: true })
        : reply(400, { isValid: false, invalidReason: state.invalid });
    }
    await state.before();
    if (state.failure !== null) return reply(200, { success: false, errorReason: state.failure });
    const { authorization } = JSON.parse(body).paymentPayload.payload;
    if (state.manner === 'liar') return reply(200, { success: true, transaction: `0x${'ab'.repeat(32)}` });
    const transaction = chain.settle({ ...authorization, value: BigInt(authorization.value) });
    if (state.manner === 'mute') return void request.socket.destroy();
    // Also for an authorization that somebody has used: facilitators were seen to do that.
    reply(200, { success: true, transaction, network: 'base-sepolia' });
  });
  return {
    url,
    asked,
    state,
    settlements: () => asked.filter(({ operation }) => operation === 'settle').length,
  };
}
