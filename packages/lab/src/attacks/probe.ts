import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { percentile } from '../terminal/table.ts';

// A healthy client that sends one request after the other and measures how long each takes. A server that stalls shows
// as one very slow request.

export interface Latencies {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

export interface ProbeRequest {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Sends each request from a random local address, so that requests do not share the limits of one client. */
  readonly fromAnywhere?: boolean;
}

/** Resolves with false unless a 2xx answer arrives in time. */
function ask(
  { port, method = 'GET', path, headers = {}, body, fromAnywhere }: ProbeRequest,
  agent: Agent,
): Promise<boolean> {
  return new Promise((resolve) => {
    const from = fromAnywhere ? { localAddress: `127.1.${randomInt(256)}.${randomInt(1, 255)}` } : {};
    const options = {
      agent,
      host: '127.0.0.1',
      port,
      method,
      path,
      headers,
      ...from,
      signal: AbortSignal.timeout(30_000),
    };
    const outgoing = request(options, (response) => {
      response.resume();
      response.on('end', () => resolve((response.statusCode ?? 500) < 300));
      response.on('error', () => resolve(false));
    });
    outgoing.on('error', () => resolve(false));
    outgoing.end(body);
  });
}

/** Ends after `count` requests, or when `over` returns true. */
export async function probe(asked: ProbeRequest, count: number, over: () => boolean = () => false): Promise<Latencies> {
  // A new connection for each request, so that attacks on connections affect it.
  const agent = new Agent({ keepAlive: false });
  const tookMs: number[] = [];
  let failed = 0;
  for (let i = 0; i < count && !over(); i++) {
    const began = performance.now();
    if (!(await ask(asked, agent))) failed += 1;
    tookMs.push(performance.now() - began);
  }
  agent.destroy();
  const at = (q: number) => Math.round((percentile(tookMs, q) ?? 0) * 100) / 100;
  return { requests: tookMs.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
}
