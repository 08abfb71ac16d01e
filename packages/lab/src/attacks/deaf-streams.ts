import { connect, type Socket } from 'node:net';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import { linearFit } from '../fixture/linear-fit.ts';
import { startModule } from '../fixture/modules.ts';
import { rssBytes } from '../fixture/rss-bytes.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';
import { probe } from './probe.ts';

// Clients that open streams of the largest possible polls and never read them: each must cost little memory, their
// polls must end, and other clients must be served.

/** Memory of the gateway per reader, above what it used before they connected. */
const MAX_BYTES_EACH = 256 * 1_024;
const LOOK_EVERY_MS = 500;

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
    const alone = rssBytes(target.pid) / 1e6;
    const rss: number[] = [];
    const began = performance.now();
    while (performance.now() - began < seconds * 1_000) {
      // A reader whose connection was closed connects again, as such clients do.
      for (const [i, socket] of sockets.entries()) if (socket.destroyed) sockets[i] = listen(target);
      for (let i = 0; i < 25 && sockets.length < readers; i++) sockets.push(listen(target));
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      if (sockets.length === readers) rss.push(rssBytes(target.pid) / 1e6);
      progress.show(`deaf streams: ${sockets.length} readers, ${rss.at(-1)?.toFixed(0) ?? '-'} MB`);
    }
    const during = await probe(asked, 200);
    const [{ ended = 0, running = 0 } = {}] = await target.stores.query<{ ended: number; running: number }>(
      `select count(*) filter (where status <> 'running')::int as ended, count(*) filter (where status = 'running')::int as running from polls`,
    );
    for (const socket of sockets) socket.destroy();
    const perMinute = linearFit(rss.map((mb, i) => [i * LOOK_EVERY_MS, mb])).slope * 60_000;
    const slope = Math.round(perMinute * 10) / 10;
    const first = Math.round(rss[0] ?? 0);
    const last = Math.round(rss.at(-1) ?? 0);
    const kbEach = Math.round(((last - alone) * 1_000) / readers);
    const figures = {
      readers: sockets.length,
      seconds,
      rss_mb: [Math.round(alone), first, last],
      kb_each: kbEach,
      mb_per_minute: slope,
      polls_ended: ended,
      polls_running: running,
      before,
      during,
    };
    return {
      figures,
      counts: { readers: sockets.length, polls: ended, 'failed requests beside them': during.failed },
      holds: sockets.length === readers && ended > 0 && during.failed === 0 && kbEach * 1_000 <= MAX_BYTES_EACH,
      lines: [
        `${readers} readers that never read, for ${seconds} s: RSS ${Math.round(alone)} MB before they came, ${first} MB when all were there, ${last} MB at the end (${slope} MB a minute), ${kbEach} kB each; ${ended} of their polls ended`,
        `a healthy client's p99 is ${before.p99Ms} ms before, ${during.p99Ms} ms beside them`,
      ],
    };
  } finally {
    await simulator.close();
  }
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
