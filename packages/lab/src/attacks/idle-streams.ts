import { connect, type Socket } from 'node:net';
import { acceptPoll } from '@eloquentpoll/storage';
import { fixtureSpec } from '../fixture/polls.ts';
import { rssBytes } from '../fixture/rss-bytes.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import { type AttackTarget, comesTrue, openFiles, watchedPolls } from './attack-target.ts';
import { type Latencies, probe } from './probe.ts';

// Ten thousand readers, each of its own poll in which nothing happens. Measures the gateway's memory per reader, the
// effect on other clients, and what is left after the readers have disconnected.

const MAX_BYTES = 50 * 1_024;
const AT_ONCE = 100;
const PROBES = 400;
const AN_HOUR_MS = 3_600_000;

export async function idleStreams(
  target: AttackTarget,
  { streams }: { streams: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  progress.show(`idle streams: ${streams} polls that do not run`);
  const polls = await waitingPolls(target, streams + AT_ONCE);
  // Warm-up: the first readers allocate memory that all later ones share, which must not be counted.
  await end(await open(target, polls.splice(0, AT_ONCE), progress));
  await comesTrue(async () => (await watchedPolls(target)) === 0, 20_000);
  const before = await creation(target);
  const files = openFiles(target.pid);
  const rssBefore = await settledRss(target.pid);

  const began = performance.now();
  const sockets = await open(target, polls, progress);
  const openedMs = performance.now() - began;
  const rssWith = await settledRss(target.pid);
  const watched = await watchedPolls(target);
  const during = await creation(target);

  await end(sockets);
  const freed = await comesTrue(
    async () => (await watchedPolls(target)) === 0 && openFiles(target.pid) <= files + 20,
    60_000,
  );
  const left = await watchedPolls(target);
  const bytes = Math.round((rssWith - rssBefore) / sockets.length);
  const figures = {
    streams: sockets.length,
    opened_per_s: Math.round((1_000 * sockets.length) / openedMs),
    rss_before_mb: Math.round(rssBefore / 1e6),
    rss_with_mb: Math.round(rssWith / 1e6),
    bytes_per_stream: bytes,
    subscriptions_with: watched,
    subscriptions_left: left,
    create_before: before,
    create_with: during,
  };
  return {
    figures,
    counts: { streams: sockets.length, 'subscriptions left': left, 'failed requests beside them': during.failed },
    holds: sockets.length === streams && bytes <= MAX_BYTES && freed && left === 0 && during.failed === 0,
    lines: [
      `${sockets.length} idle streams: ${(bytes / 1_000).toFixed(1)} kB of RSS each (at most ${(MAX_BYTES / 1_000).toFixed(1)} kB), opened ${figures.opened_per_s} a second`,
      `${watched} subscriptions while they listen, ${left} when they have gone`,
      `creating a session: p99 ${before.p99Ms} ms before, ${during.p99Ms} ms beside them (${(during.p99Ms / before.p99Ms).toFixed(2)} times)`,
    ],
  };
}

const creation = ({ port, key }: AttackTarget): Promise<Latencies> =>
  probe(
    {
      port,
      method: 'POST',
      path: '/api/polls',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'] }),
    },
    PROBES,
  );

async function waitingPolls({ stores, panels, accountId }: AttackTarget, count: number): Promise<string[]> {
  const spec = fixtureSpec(panels, {
    question: 'Which of these is the best choice?',
    options: ['A', 'B'],
    panel: 'fast',
  });
  const ids = Array.from({ length: count }, (_, i) => `ps_${i.toString(16).padStart(24, '0')}`);
  for (let i = 0; i < count; i += AT_ONCE) {
    await Promise.all(
      ids.slice(i, i + AT_ONCE).map((id, n) => {
        const resultId = `EP-2026-01-01-${(i + n).toString(16).padStart(16, '0')}`;
        const poll = { id, resultId, accountId, spec, deadlineMs: AN_HOUR_MS, entryPoint: 'stream' };
        return acceptPoll(stores.storage, { poll, holdU: 1_000n });
      }),
    );
  }
  return ids;
}

async function open(target: AttackTarget, polls: readonly string[], progress: ProgressLine): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const waiting = [...polls];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let id = waiting.pop(); id; id = waiting.pop()) {
        const socket = await listenTo(target, id);
        if (socket) sockets.push(socket);
        progress.show(`idle streams: ${sockets.length} are open`);
      }
    }),
  );
  return sockets;
}

const BODY = JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'] });

/** A reader that has received its first event; null if it was refused. */
function listenTo({ port, key }: AttackTarget, pollId: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let heard = '';
    socket.on('data', (chunk) => {
      if (heard === 'enough') return;
      heard += chunk;
      if (!heard.includes('\r\n\r\n')) return;
      resolve(heard.startsWith('HTTP/1.1 200') ? socket : null);
      heard = 'enough';
    });
    socket.on('error', () => resolve(null));
    socket.on('close', () => resolve(null));
    const lines = [
      'POST /api/poll/stream HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Last-Event-ID: ${pollId}:0`,
      `Content-Length: ${BODY.length}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${BODY}`);
  });
}

async function end(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map((socket) => socket.closed || new Promise((resolve) => socket.once('close', resolve))));
}

/** The minimum over a few seconds, so that uncollected garbage does not count. */
async function settledRss(pid: number): Promise<number> {
  let least = rssBytes(pid);
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    least = Math.min(least, rssBytes(pid));
  }
  return least;
}
