import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { median } from '../windows.ts';

// Model calls as raw as they can be made: the body that a worker sent, over a pool, the reply parsed. C is what one of
// many costs; U7 is how long seven at once take when nothing else is going on. Asked over HTTP: `/c?ms=1000`, `/u7?n=40`.

const origin = process.env.MODEL_SERVER!;
const pool = new Pool(origin, { connections: 256, pipelining: 1 });
const body = await (await pool.request({ method: 'GET', path: '/newest' })).body.text();
const AT_ONCE = 64;

async function call(): Promise<void> {
  const reply = await pool.request({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body,
  });
  JSON.parse(await reply.body.text());
}

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
    await Promise.all(Array.from({ length: 7 }, call));
    took.push(performance.now() - begun);
  }
  return { p50: median(took) };
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const work = pathname === '/u7' ? seven(Number(searchParams.get('n'))) : many(Number(searchParams.get('ms')));
  work.then(
    (figures) => response.end(JSON.stringify(figures)),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', port: (server.address() as AddressInfo).port }));
});
process.once('SIGTERM', () => process.exit(0));
