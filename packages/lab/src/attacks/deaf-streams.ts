import { connect, type Socket } from 'node:net';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import { linearFit } from '../fixture/linear-fit.ts';
import { startModule } from '../fixture/modules.ts';
import { rssBytes } from '../fixture/rss-bytes.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import { type AttackTarget, comesTrue, GATEWAY_MEMORY_MB } from './attack-target.ts';
import { whoIsConnected } from './open-connections.ts';
import { probe } from './probe.ts';

// Clients that open streams of the largest possible polls and never read them: each must cost little memory, their
// polls must end, and other clients must be served.

/** Memory of the gateway per reader, above what it used before they connected, after collections of garbage. */
const MAX_BYTES_EACH = 256 * 1_024;
/** The share of the readers that must be connected, on average: the gateway closes them again and again. */
const MIN_CONNECTED = 0.9;
/** How many connect at once, every half second. */
const COMING = 25;
const LOOK_EVERY_MS = 500;
/** The last minute: one measurement may be just before or after a collection. */
const AT_END = 60_000 / LOOK_EVERY_MS;
const ENDED_WITHIN_MS = 60_000;

const BODY = JSON.stringify({
  question: `Which is best? ${'x'.repeat(60_000)}`,
  options: Array.from({ length: 10 }, (_, i) => `${i}${'y'.repeat(199)}`),
});

export async function deafStreams(
  target: AttackTarget,
  { readers, seconds }: { readers: number; seconds: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const simulator = buildSimulator({ latencyScale: 0 });
  const models = await simulator.listen({ host: '127.0.0.1', port: 0 });
  try {
    await startModule(target.group, 'worker', '@eloquentpoll/worker/main', {
      ...target.env,
      MODELS_BASE_URL: `${models}/v1`,
      WORKER_CONCURRENCY: '20',
    });
    const sockets: Socket[] = [];
    const asked = { port: target.port, path: '/api/health' };
    const before = await probe(asked, 200);
    const alone = await neededMb(target);
    const [rss, connected]: [number[], number[]] = [[], []];
    const began = performance.now();
    while (performance.now() - began < seconds * 1_000) {
      const isConnected = whoIsConnected(sockets, target.port);
      if (sockets.length === readers) connected.push(isConnected.filter(Boolean).length);
      // A reader whose connection was closed connects again, as such clients do.
      const gone = [...sockets.keys()].filter((i) => !isConnected[i]).slice(0, COMING);
      for (const i of gone) {
        sockets[i]!.destroy();
        sockets[i] = listen(target);
      }
      for (let i = gone.length; i < COMING && sockets.length < readers; i++) sockets.push(listen(target));
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      if (sockets.length === readers) rss.push(rssBytes(target.pid) / 1e6);
      progress.show(`deaf streams: ${connected.at(-1) ?? sockets.length} readers, ${rss.at(-1)?.toFixed(0) ?? '-'} MB`);
    }
    const during = await probe(asked, 200);
    const collected = await neededMb(target);
    for (const socket of sockets) socket.destroy();
    const allEnd = await comesTrue(async () => (await pollsOf(target)).running === 0, ENDED_WITHIN_MS);
    const { ended, running } = await pollsOf(target);
    const perMinute = linearFit(rss.map((mb, i) => [i * LOOK_EVERY_MS, mb])).slope * 60_000;
    const slope = Math.round(perMinute * 10) / 10;
    const first = Math.round(rss[0] ?? 0);
    const last = Math.round(percentile(rss.slice(-AT_END), 0.5) ?? 0);
    const most = Math.round(Math.max(...rss));
    const kbEach = Math.round(((collected - alone) * 1_000) / readers);
    const onAverage = Math.floor(connected.reduce((sum, count) => sum + count, 0) / Math.max(1, connected.length));
    const figures = {
      readers: sockets.length,
      connected: onAverage,
      seconds,
      rss_mb: { alone: Math.round(alone), first, last, most, collected: Math.round(collected) },
      kb_each: kbEach,
      mb_per_minute: slope,
      polls_ended: ended,
      polls_running: running,
      before,
      during,
    };
    return {
      figures,
      counts: {
        readers: sockets.length,
        'readers connected': onAverage,
        polls: ended,
        'polls that did not end': running,
        'failed requests beside them': during.failed,
      },
      holds:
        onAverage >= MIN_CONNECTED * readers &&
        ended >= readers &&
        allEnd &&
        during.failed === 0 &&
        most <= GATEWAY_MEMORY_MB &&
        kbEach * 1_000 <= MAX_BYTES_EACH,
      lines: [
        `${readers} readers that never read, ${onAverage} connected on average, for ${seconds} s: RSS ${first} MB when all were there, ${last} MB at the end (${slope} MB a minute), at most ${most} MB; without garbage ${Math.round(alone)} MB before they came, ${Math.round(collected)} MB at the end, ${kbEach} kB each; ${ended} of their polls ended, ${running} did not`,
        `a healthy client's p99 is ${before.p99Ms} ms before, ${during.p99Ms} ms beside them`,
      ],
    };
  } finally {
    await simulator.close();
  }
}

async function neededMb(target: AttackTarget): Promise<number> {
  const { heapBytes, codeBytes, externalBytes } = await target.collectedMemory();
  return (heapBytes + codeBytes + externalBytes) / 1e6;
}

async function pollsOf({ stores }: AttackTarget): Promise<{ ended: number; running: number }> {
  const [found] = await stores.query<{ ended: number; running: number }>(
    `select count(*) filter (where status <> 'running')::int as ended, count(*) filter (where status = 'running')::int as running from polls`,
  );
  return found!;
}

function listen({ port, key }: AttackTarget): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.pause();
  const lines = [
    'POST /api/poll/stream HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${BODY}`);
  return socket;
}
