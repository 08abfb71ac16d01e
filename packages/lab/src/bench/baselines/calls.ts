import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { lowerQuartile, median } from '../windows.ts';

// Model calls that are as cheap as possible: a body that a worker sent, a connection pool, the reply parsed. C is the
// cost of one call among many. U7 is the time of seven parallel calls while nothing else runs. A set is seven parallel
// calls, with many sets at a time. Controlled over HTTP: `/c?ms=1000`, `/u7?n=40`, `/sets?ms=1000&at_once=32`. With
// THROUGH, all calls go through a gateway and have CALL_HEADERS in addition.

const models = new Pool(process.env.MODEL_SERVER!, { connections: 1 });
const body = await (await models.request({ method: 'GET', path: '/newest' })).body.text();
const pool = new Pool(process.env.THROUGH ?? process.env.MODEL_SERVER!, {
  connections: 256,
  pipelining: 1,
  keepAliveMaxTimeout: 2_000,
});
const headers = {
  'content-type': 'application/json',
  authorization: 'Bearer none',
  ...(JSON.parse(process.env.CALL_HEADERS ?? '{}') as Record<string, string>),
};
const SEATS = 7;
const AT_ONCE = 64;

async function call(): Promise<void> {
  const reply = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body });
  const answer = JSON.parse(await reply.body.text()) as { choices?: unknown };
  if (reply.statusCode !== 200 || !answer.choices) throw new Error(`a call was answered with ${reply.statusCode}`);
}

const set = (): Promise<unknown> => Promise.all(Array.from({ length: SEATS }, call));

async function many(ms: number): Promise<Record<string, number>> {
  let calls = 0;
  const until = performance.now() + ms;
  const before = process.cpuUsage();
  const line = async () => {
    for (; performance.now() < until; calls++) await call();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, line));
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / calls, wall: (ms * 1_000) / calls };
}

async function seven(times: number): Promise<Record<string, number>> {
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const begun = performance.now();
    await set();
    took.push(performance.now() - begun);
  }
  return { p25: lowerQuartile(took), p50: median(took) };
}

async function sets(ms: number, atOnce: number): Promise<Record<string, number>> {
  let made = 0;
  const begun = performance.now();
  const line = async () => {
    for (; performance.now() < begun + ms; made++) await set();
  };
  await Promise.all(Array.from({ length: atOnce }, line));
  return { made, wall: ((performance.now() - begun) * 1_000) / made };
}

function measured({ pathname, searchParams: asked }: URL): Promise<Record<string, number>> {
  if (pathname === '/u7') return seven(Number(asked.get('n')));
  if (pathname === '/sets') return sets(Number(asked.get('ms')), Number(asked.get('at_once')));
  return many(Number(asked.get('ms')));
}

const server = createServer((request, response) => {
  measured(new URL(request.url ?? '/', 'http://localhost')).then(
    (figures) => response.end(JSON.stringify(figures)),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', port: (server.address() as AddressInfo).port }));
});
process.once('SIGTERM', () => process.exit(0));
