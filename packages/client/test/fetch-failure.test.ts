import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import t, { type Test } from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import { isUnconnected, proxyHint } from '../src/fetch-failure.ts';
import { usedOffline } from './offline.ts';
import { pipes, terminal } from './screen.ts';
import { withoutWaiting } from './service.ts';

// Failures before anything is sent: nothing was asked, so nothing can have been charged.

async function portOf(t: Test, server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

const failure = (facts: object, message = 'x') =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(message), facts) });

t.test('a handshake that fails, a certificate and a proxy that do not fit are no lost poll', async (t) => {
  withoutWaiting(t);
  const plain = await portOf(t, createServer());
  const cut = await portOf(
    t,
    createSocketServer((socket) => void socket.once('data', () => socket.destroy())),
  );
  for (const [port, why] of [
    [plain, /cannot be reached: .*wrong version number/],
    [cut, /cannot be reached: Client network socket disconnected before secure TLS/],
  ] as const) {
    const { texts, ...outputs } = pipes();
    const env = { EP_URL: `https://127.0.0.1:${port}`, EP_KEY: 'ep_k_x' };
    t.equal(await run(['ask', 'Which is larger? [A, B]'], terminal({ ...outputs, env })), EXIT.unavailable);
    t.match(texts.err, why);
    t.match(texts.err, /\. Check --url or EP_URL\.\n$/);
    t.notMatch(texts.err, 'charged');
  }
  t.ok(isUnconnected(failure({ code: 'SELF_SIGNED_CERT_IN_CHAIN' })));
  t.ok(isUnconnected(failure({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })));
  t.ok(isUnconnected(failure({ code: 'UND_ERR_ABORTED' }, 'Proxy response (407) !== 200 when HTTP Tunneling')));
  for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_ABORTED', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'])
    t.notOk(isUnconnected(failure({ code }, 'read ECONNRESET')), code);
});

t.test('a service of which no address can be connected to has made no poll', async (t) => {
  withoutWaiting(t);
  const attempt = (code: string, address: string) =>
    Object.assign(new Error(`connect ${code} ${address}`), { code, syscall: 'connect' });
  const attempts = [attempt('ETIMEDOUT', '2001:db8::1:443'), attempt('ECONNREFUSED', '192.0.2.1:443')];
  // As Node does: without a message and a syscall, with the code of the first.
  const cause = Object.assign(new AggregateError(attempts), { code: 'ETIMEDOUT' });
  const { exit, err } = await usedOffline(t, ['ask', 'Which is larger? [A, B]'], () =>
    Promise.reject(new TypeError('fetch failed', { cause })),
  );
  t.equal(exit, EXIT.unavailable);
  t.equal(
    err,
    'eloquentpoll: https://polls.example cannot be reached: connect ETIMEDOUT 2001:db8::1:443. Check --url or EP_URL.\n',
  );
});

t.test('who has a proxy that Node does not use learns how it is used', async (t) => {
  const env = { https_proxy: 'http://proxy.example:3128' };
  const hint = ' HTTPS_PROXY is set, but Node uses it only with NODE_USE_ENV_PROXY=1.';
  t.equal(proxyHint(env, 'https://polls.example'), hint);
  t.equal(proxyHint(env, 'http://polls.example'), '', 'another proxy');
  for (const used of [{ NODE_USE_ENV_PROXY: '1' }, { NODE_OPTIONS: '--use-env-proxy' }])
    t.equal(proxyHint({ ...env, ...used }, 'https://polls.example'), ' Requests go through the proxy of HTTPS_PROXY.');
  t.equal(proxyHint(env, 'https://127.0.0.1:8080'), '', 'it is not for this computer');

  const real = globalThis.fetch;
  t.teardown(() => {
    globalThis.fetch = real;
  });
  globalThis.fetch = () => Promise.reject(failure({ code: 'ECONNREFUSED' }, 'connect ECONNREFUSED 10.0.0.1:3128'));
  withoutWaiting(t);
  const { texts, ...outputs } = pipes();
  const at = { ...env, EP_URL: 'https://polls.example', EP_KEY: 'ep_k_x', NODE_USE_ENV_PROXY: '1' };
  await run(['keys'], terminal({ ...outputs, env: at }));
  t.equal(
    texts.err,
    'eloquentpoll: https://polls.example cannot be reached: connect ECONNREFUSED 10.0.0.1:3128. Check --url or EP_URL. Requests go through the proxy of HTTPS_PROXY.\n',
    'it may be the proxy where nothing listens',
  );
});
