import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONTENT_TYPE } from './exposition.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

// The port for operators: its own listener, never part of the public one, on this machine only unless somebody names
// another address. It stays open while the process drains, so that the last figures can be read.

/** Answers requests of its own; false when the path is not its own. */
export type Desk = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export interface OpsPortOptions {
  host: string;
  /** 0 for any free one. */
  port: number;
  metrics: Metrics;
  readiness: Readiness;
  /** The admin view, where there is one. */
  desk?: Desk | null;
}

export interface OpsPort extends AsyncDisposable {
  readonly url: string;
}

const MOST_CONNECTIONS = 64;

export async function openOpsPort(options: OpsPortOptions): Promise<OpsPort> {
  const { host, port, metrics, readiness, desk } = options;
  const pages = new Map<string, (response: ServerResponse) => Promise<void>>([
    ['/metrics', async (response) => send(response, 200, await metrics.text(), CONTENT_TYPE)],
    // That it answers is the answer: the loop turns.
    ['/livez', async (response) => send(response, 200, 'alive\n')],
    [
      '/readyz',
      async (response) => {
        const report = await readiness.report();
        send(response, report.ready ? 200 : 503, `${JSON.stringify(report)}\n`, 'application/json');
      },
    ],
    ['/', async (response) => send(response, 200, index(Boolean(desk)))],
  ]);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/'] = (request.url ?? '/').split('?');
    if (desk && (await desk(request, response))) return;
    const page = pages.get(path);
    if (!page) return send(response, 404, 'There is no such page.\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return send(response, 405, 'This page is only read.\n');
    }
    await page(response);
  }

  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 },
    (req, res) => {
      answer(req, res).catch(() => {
        if (!res.headersSent) send(res, 500, 'This did not work; the log says why.\n');
        else res.destroy();
      });
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response
    .writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .end(response.req.method === 'HEAD' ? undefined : body);
}

const index = (desk: boolean): string => ['/metrics', '/livez', '/readyz', ...(desk ? ['/admin'] : []), ''].join('\n');
