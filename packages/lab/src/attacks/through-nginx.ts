import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import { requestsWithinRequests } from '@eloquentpoll/testkit/fakes/requests-within-requests';
import { startModule } from '../fixture/modules.ts';
import { infraFile, type Nginx, startNginx } from '../fixture/nginx-process.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';

// nginx between clients and the gateway, with the shipped configuration: both must parse the same bytes the same way,
// only the peer address may identify a client, and events must arrive as they happen.

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B', 'C'] };
/** If nginx buffered events, they would be late by the time until the next votes, which take seconds here. */
const MAX_HELD_BACK_MS = 500;
const HEALTHY = /^HTTP\/1\.1 200 .*"status":"ok"/s;

export async function throughNginx(
  target: AttackTarget,
  { requests }: { requests: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  await using nginx = await startNginx((port) =>
    infraFile('nginx/eloquentpoll.conf', [
      ['server 127.0.0.1:8080;', `server 127.0.0.1:${target.port};`],
      ['listen 8081;', `listen 127.0.0.1:${port};`],
      // Polls store the id of their request, so a request that nginx did not see has an id that is not in its log.
      ['Host $host;', 'Host $host;\n    proxy_set_header X-Request-Id ngx-$request_id;'],
    ]),
  );
  progress.show('through nginx: requests within requests');
  const smuggling = await smuggle(target, nginx);
  const addresses = await pretend(nginx, requests, progress);
  progress.show('through nginx: event streams');
  const streams = await stream(target, nginx);
  progress.show('through nginx: an upload');
  const upload = await uploadRows(target, nginx);
  return {
    figures: { smuggling, addresses, streams, upload },
    counts: {
      requests: addresses.requests,
      'answers astray': smuggling.others_disturbed,
      'requests that ran unseen': smuggling.ran,
    },
    holds:
      smuggling.ran === 0 &&
      smuggling.others_disturbed === 0 &&
      smuggling.in_order_ran === 1 &&
      addresses.buckets === 1 &&
      addresses.buckets_of_two_peers === 2 &&
      streams.events >= 4 &&
      streams.held_back_ms < MAX_HELD_BACK_MS &&
      streams.last_event_ms > 4 * MAX_HELD_BACK_MS &&
      upload.code === 'batch_invalid',
    lines: [
      `${smuggling.kinds} kinds of requests within requests: ${smuggling.ran} ran that nginx had not seen, ${smuggling.others_disturbed} answers went astray`,
      `${addresses.requests} made-up addresses from one peer: ${addresses.buckets} bucket; two peers: ${addresses.buckets_of_two_peers}`,
      `a stream: ${streams.events} events, the first after ${streams.first_event_ms} ms, the last after ${streams.last_event_ms} ms, none held back for more than ${streams.held_back_ms} ms`,
      `an upload of ${upload.bytes} bytes whose last row is wrong: ${upload.status} ${upload.code}`,
    ],
  };
}

/** Larger than nginx allows for other requests. The last row is invalid: its error shows that everything was read. */
async function uploadRows({ key }: AttackTarget, nginx: Nginx) {
  const row = (i: number) => JSON.stringify({ custom_id: `row ${i}`, ...POLL });
  const body = [...Array.from({ length: 5_000 }, (_, i) => row(i)), '{"custom_id":"last"}'].join('\n');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/jsonl' };
  const answer = await fetch(`http://127.0.0.1:${nginx.port}/api/batches`, { method: 'POST', headers, body });
  const text = await answer.text();
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
  return { bytes: body.length, status: answer.status, code };
}

async function smuggle({ stores, key }: AttackTarget, nginx: Nginx) {
  const body = JSON.stringify(POLL);
  const hidden = [
    'POST /api/polls HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    'X-Request-Id: unseen-by-nginx',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  const begun = async (): Promise<string[]> =>
    (await stores.query<{ request_id: string }>('select request_id from polls')).map((row) => row.request_id);
  const smuggled = Object.values(requestsWithinRequests(hidden));
  let disturbed = 0;
  for (const bytes of smuggled) {
    await exchange(nginx.port, bytes, 300);
    // The next requests reuse nginx's connection to the gateway over which the ambiguous request was sent.
    for (let i = 0; i < 3; i++) {
      const answer = await exchange(nginx.port, 'GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      if (!HEALTHY.test(answer)) disturbed += 1;
    }
  }
  const known = new Set(nginx.requests().map((line) => line.split(' ')[0]));
  const ran = (await begun()).filter((id) => !known.has(id)).length;
  const before = (await begun()).length;
  await exchange(nginx.port, `GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`, 1_000);
  const inOrder = (await begun()).length - before;
  return { kinds: smuggled.length, ran, others_disturbed: disturbed, in_order_ran: inOrder };
}

/** Sends bytes and reads until the other side closes or the time is up. */
function exchange(port: number, bytes: string, withinMs = 5_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    const timer = setTimeout(() => socket.destroy(), withinMs);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
    socket.write(Buffer.from(bytes, 'latin1'));
  });
}

async function pretend({ port }: Nginx, count: number, progress: ProgressLine) {
  const random = (): string => [...randomBytes(4)].join('.');
  async function remaining(localAddress: string, agent: Agent): Promise<number> {
    const headers = {
      'x-forwarded-for': `${random()}, ${random()}`,
      'x-real-ip': random(),
      forwarded: `for=${random()}`,
      'cf-connecting-ip': random(),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { agent, port, host: '127.0.0.1', localAddress, path: '/api/profiles', headers },
        (answer) => {
          answer.resume();
          answer.on('end', () => resolve(Number(answer.headers['ratelimit-remaining'])));
        },
      );
      outgoing.on('error', reject);
      outgoing.end();
    });
  }
  const [one, other] = ['127.0.0.2', '127.0.0.3'];
  const agents = [one, other].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const left: number[] = [];
  for (let i = 0; i < count; i++) {
    left.push(await remaining(one, agents[0]!));
    if (i % 500 === 0) progress.show(`through nginx: ${i} of ${count} made-up addresses`);
  }
  const ofOther = await remaining(other, agents[1]!);
  for (const agent of agents) agent.destroy();
  // If all requests count against one bucket, each finds one less remaining.
  const buckets = 1 + left.filter((value, i) => i > 0 && value !== left[i - 1]! - 1).length;
  return { requests: count, buckets, buckets_of_two_peers: ofOther === left[0] ? buckets + 1 : buckets };
}

async function stream(target: AttackTarget, { port }: Nginx) {
  const simulator = buildSimulator({ latencyScale: 4 });
  const models = await simulator.listen({ host: '127.0.0.1', port: 0 });
  try {
    await startModule(target.group, 'worker', '@eloquentpoll/worker/main', {
      ...target.env,
      MODELS_BASE_URL: `${models}/v1`,
    });
    const began = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/api/poll/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...POLL, confidence_threshold: 1 }),
      signal: AbortSignal.timeout(60_000),
    });
    // Each event contains its time since the start of the poll.
    const events: { atMs: number; lagMs: number }[] = [];
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const atMs = Math.round(performance.now() - began);
      const fresh = [...text.matchAll(/"elapsed_ms":(\d+)[^\n]*\n\n/g)].slice(events.length);
      for (const [, elapsed] of fresh) events.push({ atMs, lagMs: atMs - Number(elapsed) });
    }
    if (!/event: complete/.test(text)) throw new Error(`the stream ended without its end: ${text.slice(-200)}`);
    const lags = events.map(({ lagMs }) => lagMs);
    return {
      events: events.length,
      first_event_ms: events[0]?.atMs ?? 0,
      last_event_ms: events.at(-1)?.atMs ?? 0,
      held_back_ms: Math.max(...lags) - Math.min(...lags),
    };
  } finally {
    await simulator.close();
  }
}
