import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AbiCoder, hashMessage, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { build, type Gateway } from '../fixtures/build.ts';
import { NO_LOGIN_LIMIT, walletOwner } from '../fixtures/wallet-owner.ts';

// slow: 3 s

// A fake Ethereum node that answers eth_call of isValidSignature(bytes32,bytes) as real nodes do,
// for wallets whose address has no private key.

interface Call {
  method: string;
  params: unknown[];
}
interface EthCall {
  to: string;
  data: string;
}
type Node = (call: Call) => object | string | null;

const YES = '0x1626ba7e'.padEnd(66, '0');
const CHAIN = { result: '0x2105' };

/** null never answers; a text is sent as it is. */
async function node(t: Test, answer: Node) {
  const calls: Call[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const call: Call & { id: number } = JSON.parse(Buffer.concat(chunks).toString());
    calls.push(call);
    const body = answer(call);
    if (body === null) return;
    if (body === 'redirect') response.writeHead(307, { location: '/elsewhere' });
    response.end(typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', id: call.id, ...body }));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

const CODE = { result: '0x6080' };
const contractCall =
  (answer: object | string | null, code: object = CODE): Node =>
  ({ method }) =>
    ({ eth_chainId: CHAIN, eth_getCode: code })[method] ?? answer;

let current: Node = contractCall({ result: YES });
const { rpcUrl, calls } = await node(t, (call) => current(call));
const gateway = await build(t, { rateLimits: NO_LOGIN_LIMIT, wallets: { chainId: 8_453, contractNodes: [rpcUrl] } });
/** Signs with a key other than the address's own, as owners of a contract wallet do. */
const contractWallet = (of: Gateway = gateway) => {
  const { challenge, verify, wallet } = walletOwner(of);
  const signer = Wallet.createRandom();
  return {
    wallet,
    verify,
    proof: async () => {
      const message = await challenge();
      return { message, signature: await signer.signMessage(message) };
    },
  };
};

t.test('a signature that the contract accepts logs its wallet in, whatever its bytes', async (t) => {
  const { wallet, verify, proof } = contractWallet();
  const { message, signature } = await proof();
  calls.length = 0;
  const first = await verify({ message, signature: `${signature}${'ab'.repeat(200)}` });
  t.match(first, { statusCode: 200 });
  t.match(first.json(), { address: wallet.address, is_new_user: true });
  t.same(
    new Set(calls.map(({ method }) => method)),
    new Set(['eth_chainId', 'eth_getCode', 'eth_call']),
    'nothing that costs gas',
  );
  const [call, block] = (calls.find(({ method }) => method === 'eth_call')?.params ?? []) as [EthCall, string];
  t.equal(block, 'latest');
  t.equal(call.to, wallet.address);
  t.equal(call.data.slice(0, 10), '0x1626ba7e');
  const [digest, given] = AbiCoder.defaultAbiCoder().decode(['bytes32', 'bytes'], `0x${call.data.slice(10)}`);
  t.equal(digest, hashMessage(message));
  t.equal(given, `${signature}${'ab'.repeat(200)}`);
  t.equal((await verify({ message, signature })).statusCode, 401, 'a challenge counts once here too');
  t.match((await verify(await proof())).json(), { is_new_user: false });
  t.match((await verify({ ...(await proof()), signature: '0x' })).statusCode, 200, 'the contract decides');
});

t.test('a wallet with its own private key needs no node', async (t) => {
  calls.length = 0;
  t.equal((await walletOwner(gateway).verify()).statusCode, 200);
  t.same(calls, []);
});

t.test('every answer of the contract but the EIP-1271 value is a 401', async (t) => {
  const { verify, proof } = contractWallet();
  const nos: (object | string)[] = [
    { result: '0x' },
    { result: '0xffffffff'.padEnd(66, '0') },
    { result: '0x1626ba7e' },
    { result: `${YES}00` },
    { result: YES.replace(/0$/, '1') },
    { result: 1 },
    { result: null },
    { result: [YES] },
    { error: { code: 3, message: 'execution reverted' } },
    { error: { code: -32_000, message: 'VM Exception: revert' } },
  ];
  for (const no of nos) {
    current = contractCall(no);
    t.match((await verify(await proof())).json(), { code: 'invalid_wallet_signature' }, JSON.stringify(no));
  }
  current = contractCall({ result: YES });
  for (const signature of ['', '0xabc', '0xgg', 'hello']) {
    t.equal((await verify({ ...(await proof()), signature })).statusCode, 401, 'is not sent anywhere');
  }
  t.equal((await verify(await proof())).statusCode, 200);
});

t.test('a node that fails or hangs is a 503 within seconds, and the nonce stays valid', async (t) => {
  const { verify, proof } = contractWallet();
  const given = await proof();
  const aways: Record<string, Node> = {
    hangs: contractCall(null),
    'speaks no JSON': contractCall('<html>bad gateway</html>'),
    'is out of quota': contractCall({ error: { code: -32_005, message: 'limit exceeded' } }),
    'answers without end': contractCall('x'.repeat(600_000)),
    'sends us elsewhere': contractCall('redirect'),
    'serves another chain': ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : { result: YES }),
    'has no chain': ({ method }) => (method === 'eth_chainId' ? { error: { code: 1 } } : { result: YES }),
    'hides the code': contractCall({ result: YES }, { error: { code: 1 } }),
  };
  for (const [name, away] of Object.entries(aways)) {
    current = away;
    const answer = await verify(given);
    t.match(answer, { statusCode: 503, headers: { 'retry-after': '5' } }, name);
    t.notMatch(answer.body, /quota|limit exceeded|127\.0\.0\.1/, 'what the node said stays here');
  }
  current = contractCall({ result: YES });
  t.equal((await verify(given)).statusCode, 200);
});

t.test('an address without code of a contract is a 401, whatever the node says to the call', async (t) => {
  const { verify, proof } = contractWallet();
  for (const code of ['0x', '', `0xef0100${'ab'.repeat(20)}`, `0xEF0100${'ab'.repeat(20)}`, 'contract']) {
    current = contractCall({ result: YES }, { result: code });
    t.match((await verify(await proof())).json(), { code: 'invalid_wallet_signature' }, code);
  }
  current = contractCall({ result: YES });
  t.equal((await verify(await proof())).statusCode, 200);
});

t.test('no node answers for an address that has signed with its own key', async (t) => {
  const owner = walletOwner(gateway);
  const forged = async () => ({ message: await owner.challenge(), signature: `0x${'00'.repeat(65)}` });
  t.match((await owner.verify()).json(), { is_new_user: true });
  current = contractCall({ result: YES });
  calls.length = 0;
  const answer = await owner.verify(await forged());
  t.match(answer.json(), { code: 'invalid_wallet_signature' });
  t.notOk(answer.headers['set-cookie']);
  t.equal((await owner.rotate(await forged())).statusCode, 401);
  t.same(calls, [], 'the node is not asked');
});

t.test('of two nodes both must accept; when they differ it is a 503 and an event for the operator', async (t) => {
  let second: Node = contractCall({ result: YES });
  const other = await node(t, (call) => second(call));
  const wallets = { chainId: 8_453, contractNodes: [rpcUrl, other.rpcUrl] };
  const careful = await build(t, { rateLimits: NO_LOGIN_LIMIT, wallets });
  const { verify, proof } = contractWallet(careful);
  current = contractCall({ result: YES });
  t.equal((await verify(await proof())).statusCode, 200);
  for (const no of [contractCall({ result: '0x' }), contractCall({ result: YES }, { result: '0x' })]) {
    second = no;
    t.equal((await verify(await proof())).statusCode, 503);
  }
  t.ok(careful.log.some((line) => line.includes('wallet.nodes_disagreed')));
  current = contractCall({ result: '0x' });
  second = current;
  t.equal((await verify(await proof())).statusCode, 401, 'both refuse');
});

t.test('without a node the signature of a contract wallet is a 401', async (t) => {
  const without = await build(t);
  const { challenge, verify } = walletOwner(without);
  const message = await challenge();
  calls.length = 0;
  t.equal((await verify({ message, signature: await Wallet.createRandom().signMessage(message) })).statusCode, 401);
  t.same(calls, []);
});
