import { connect, type Socket } from 'node:net';
import { rssBytes } from '../fixture/rss-bytes.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import { type AttackTarget, comesTrue, GATEWAY_MEMORY_MB, openFiles } from './attack-target.ts';
import { type Latencies, probe } from './probe.ts';

// Connections that do almost nothing: they send headers or bodies byte by byte, send nothing, or do not read answers.
// Other clients must be served meanwhile, the gateway must close all but the last kind within seconds, and the memory
// that our manifests give it must suffice.

export type Slowness = 'headers' | 'body' | 'silence' | 'reading';

/** All attackers count as one client for limits; healthy clients have other addresses. */
const ATTACKER = '127.0.0.2';
const OPENING = 'POST /api/intents/match HTTP/1.1\r\nHost: x\r\n';
/** Covers the body timeout of 15 s, a connection check every 2 s, and the large number of connections. */
const ALL_GONE_MS = 40_000;
/** Longer than the gateway promises, because a slow machine closes connections later. */
const GONE_WITHIN_S = 20;
/** Allowed p99 of a healthy client, relative to its p99 without the attack. */
const MAX_SLOWER = 2;
const LASTS_MS = 12_000;
const DRIP_MS = 1_000;

export async function slowClients(
  target: AttackTarget,
  { connections, kind }: { connections: number; kind: Slowness },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const asked = { port: target.port, path: '/api/health', fromAnywhere: true };
  const before = await probe(asked, 300);
  const files = openFiles(target.pid);
  const rssBefore = rssBytes(target.pid);
  const sockets = await openAll(target.port, connections, kind);
  await comesTrue(() => openFiles(target.pid) - files > connections * 0.9, 20_000);
  const opened = openFiles(target.pid) - files;
  const began = performance.now();
  let rssMost = rssBefore;
  const drip = setInterval(() => {
    rssMost = Math.max(rssMost, rssBytes(target.pid));
    for (const socket of sockets) if (!socket.destroyed) feed(socket, kind);
    progress.show(`slow ${kind}: ${sockets.filter(({ destroyed }) => !destroyed).length} connections left`);
  }, DRIP_MS);
  const during = await probe(asked, 3_000, () => performance.now() - began > LASTS_MS);
  rssMost = Math.max(rssMost, rssBytes(target.pid));
  // Unread answers have longer timeouts (unread-answers.ts of the gateway), which this attack does not wait for.
  const gone = kind === 'reading' || (await comesTrue(() => sockets.every(({ destroyed }) => destroyed), ALL_GONE_MS));
  const goneMs = performance.now() - began;
  clearInterval(drip);
  const after = await probe(asked, 300);
  for (const socket of sockets) socket.destroy();
  const closed = await comesTrue(() => openFiles(target.pid) <= files + 20, 20_000);
  const figures = {
    kind,
    connections: sockets.length,
    opened,
    rss_mb: [rssBefore, rssMost].map((bytes) => Math.round(bytes / 1e6)),
    gone_s: Math.round(goneMs / 100) / 10,
    before,
    during,
    after,
  };
  const ratio = (one: Latencies) => (one.p99Ms / before.p99Ms).toFixed(2);
  return {
    figures,
    counts: {
      'slow connections': opened,
      'connections left': gone && closed ? 0 : opened,
      'failed requests beside them': during.failed + after.failed,
    },
    holds:
      gone &&
      closed &&
      (kind === 'reading' || figures.gone_s <= GONE_WITHIN_S) &&
      figures.rss_mb[1]! <= GATEWAY_MEMORY_MB &&
      during.p99Ms <= MAX_SLOWER * before.p99Ms &&
      during.failed === 0 &&
      after.failed === 0 &&
      opened > connections * 0.9,
    lines: [
      `slow ${kind}: ${opened} connections; a healthy client's p99 is ${before.p99Ms} ms before, ${during.p99Ms} ms during (${ratio(during)} times), ${after.p99Ms} ms after; ${during.failed} of its ${during.requests} requests failed`,
      `${kind === 'reading' ? 'held until their readers left' : `all were closed by the gateway within ${figures.gone_s} s`}; RSS ${figures.rss_mb[0]} MB before, at most ${figures.rss_mb[1]} MB`,
    ],
  };
}

async function openAll(port: number, count: number, kind: Slowness): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 200) {
    const some = Array.from({ length: Math.min(200, count - i) }, () => begin(port, kind));
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

function begin(port: number, kind: Slowness): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKER }, () => {
      if (kind === 'headers') socket.write(OPENING);
      if (kind === 'body') socket.write(`${OPENING}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`);
      if (kind === 'reading') {
        socket.pause();
        // Requests large answers and reads none of them.
        socket.write('GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(16));
      }
      resolve(socket);
    });
    socket.on('error', () => resolve(socket));
    if (kind !== 'reading') socket.resume();
  });
}

function feed(socket: Socket, kind: Slowness): void {
  if (kind === 'headers') socket.write('X');
  if (kind === 'body') socket.write(' ');
}
