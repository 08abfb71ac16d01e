import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { interact } from './interactions.ts';
import { loginPagePolicy, notePage } from './pages.ts';
import { type PersistedState, readState, writeState } from './persisted-state.ts';
import { localProvider } from './provider.ts';

// Runs the provider behind our own server, on loopback only. Requests with another name as Host (DNS rebinding) are
// refused.

const HOST = '127.0.0.1';

export interface LocalProviderOptions {
  /** The folder of the persisted state. */
  folder: string;
  baseUrl: string;
  clientSecret: string;
}

export async function startLocalProvider({ folder, ...client }: LocalProviderOptions) {
  const state = readState(folder);
  const server = createServer();
  const port = await listen(server, state.port);
  writeState(folder, { ...state, port });
  const issuer = `http://${HOST}:${port}`;
  server.on('request', handler({ issuer, state, ...client }));
  return {
    issuer,
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface HandlerOptions {
  issuer: string;
  state: PersistedState;
  baseUrl: string;
  clientSecret: string;
}

function handler({ issuer, state, baseUrl, clientSecret }: HandlerOptions) {
  const provider = localProvider({ issuer, baseUrl, clientSecret, state });
  const callback = provider.callback();
  const { host } = new URL(issuer);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('content-security-policy', loginPagePolicy(baseUrl));
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('referrer-policy', 'no-referrer');
    if (request.headers.host !== host) return note(response, 421, `This is ${issuer} and nothing else.`);
    if (request.url === '/') return note(response, 200, `EloquentPoll asks here who you are. It is at ${baseUrl}.`);
    if (!request.url?.startsWith('/interaction/')) return callback(request, response);
    response.setHeader('cache-control', 'no-store');
    await interact(provider, request, response);
  }

  return (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => {
      if (response.headersSent) return void response.destroy();
      note(response, 400, 'This login is over or was begun in another browser. Begin it again.');
    });
  };
}

function note(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(notePage('Local identity provider', text));
}

/** Listens on the port of the last start if it is free, otherwise on another one. */
async function listen(server: Server, wanted: number): Promise<number> {
  for (const port of [wanted, 0]) {
    server.listen(port, HOST);
    const failed = await once(server, 'listening').then(
      () => null,
      (error: NodeJS.ErrnoException) => error,
    );
    if (!failed) break;
    if (port === 0 || failed.code !== 'EADDRINUSE') throw failed;
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
