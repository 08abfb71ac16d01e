import t from 'tap';
import { createMcpBridge } from '../src/mcp/mcp-bridge.ts';
import { answered } from './offline.ts';
import { withoutWaiting } from './service.ts';

// A poll whose first answer is lost, and what the second answer says about it.

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'poll_question', arguments: {} } };

t.test('a poll that may go on is named although its repeat is refused', async (t) => {
  withoutWaiting(t);
  const real = globalThis.fetch;
  t.teardown(() => {
    globalThis.fetch = real;
  });
  const rpc = (body: object, status = 200) => answered({ jsonrpc: '2.0', id: 1, ...body }, status);
  const revoked = { error: 'The key is not valid.', code: 'invalid_api_key' };
  const failed = JSON.stringify({ error: 'No model has voted.', code: 'poll_failed', retryable: false });
  for (const [second, isNamed] of [
    [() => answered(revoked, 401), true],
    [() => rpc({ error: { code: -32_001, message: revoked.error, data: revoked } }, 401), true],
    [() => rpc({ result: { structuredContent: {} } }), false],
    [() => rpc({ result: { isError: true, content: [{ type: 'text', text: failed }] } }), false],
  ] as const) {
    let key = '';
    const written: object[] = [];
    globalThis.fetch = async (_url, init) => {
      const isFirst = key === '';
      key = new Headers(init?.headers).get('idempotency-key') ?? '';
      return isFirst ? Promise.reject(new TypeError('fetch failed', { cause: new Error('reset') })) : second();
    };
    const env = { EP_URL: 'https://polls.example', EP_KEY: 'ep_k_x' };
    const bridge = createMcpBridge(env, { write: (message) => void written.push(message), note: () => {} });
    await bridge.take(JSON.stringify(CALL));
    t.equal(written.length, 1);
    t.equal(JSON.stringify(written).includes(`idempotency_key ${key} joins it`), isNamed, JSON.stringify(written));
  }
});
