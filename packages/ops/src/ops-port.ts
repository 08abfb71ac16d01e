import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { CONTENT_TYPE } from './exposition.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

// The operators' port: a separate listener, on loopback unless another address is configured. It stays open while the
// process drains, so that the last figures can be read.

/** Answers requests to its own paths. False for other paths. */
export type OpsHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export interface OpsPortOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  metrics: Metrics;
  readiness: Readiness;
  /** The operators' console, if there is one. */
  handler?: OpsHandler | null;
  /** Called with the error if a page could not be answered. */
  onFailure(error: unknown, path: string): void;
}

export interface OpsPort extends AsyncDisposable {
  readonly url: string;
}

const MAX_CONNECTIONS = 64;

export async function openOpsPort(options: OpsPortOptions): Promise<OpsPort> {
  const { host, port, metrics, readiness, handler, onFailure } = options;
  const pages = new Map<string, (response: ServerResponse) => Promise<void>>([
    ['/metrics', async (response) => send(response, 200, await metrics.text(), CONTENT_TYPE)],
    // Any answer shows that the event loop is running.
    ['/livez', async (response) => send(response, 200, 'alive\n')],
    [
      '/readyz',
      async (response) => {
        const report = await readiness.report();
        send(response, report.ready ? 200 : 503, `${JSON.stringify(report)}\n`, 'application/json');
      },
    ],
    ['/', async (response) => send(response, 200, index(Boolean(handler)))],
  ]);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isOwnName(request.headers.host, host)) return send(response, 421, 'This port is reached by its address.\n');
    const [path = '/'] = (request.url ?? '/').split('?');
    if (handler && (await handler(request, response))) return;
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
      answer(req, res).catch((error: unknown) => {
        onFailure(error, (req.url ?? '/').split('?')[0]!);
        if (!res.headersSent) send(res, 500, 'This did not work; the log says why.\n');
        else res.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
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

/**
 * A foreign web page can make its own domain resolve to this address (DNS rebinding). So only an IP address, a name
 * without a dot, or the configured name is accepted as Host.
 */
function isOwnName(header: string | undefined, host: string): boolean {
  if (header === undefined) return true;
  const name = URL.parse(`http://${header}`)?.hostname.replace(/^\[|\]$/g, '');
  return name !== undefined && (isIP(name) !== 0 || !name.includes('.') || name === host.toLowerCase());
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

const index = (hasConsole: boolean): string =>
  ['/metrics', '/livez', '/readyz', ...(hasConsole ? ['/admin'] : []), ''].join('\n');
