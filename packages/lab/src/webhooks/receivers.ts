import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { isJsonObject } from '@eloquentpoll/contracts';
import { testCertificate } from '@eloquentpoll/testkit/tls-certificate';
import { type NameResolver, type ReceiverRules, receiverRules } from '@eloquentpoll/webhooks';

// Receivers of every kind, each with its own names; a resolver that knows the names; and a trap at an address to which
// no connection may be made.

const GOOD_ADDRESS = '127.0.0.1';
const TRAP_ADDRESS = '127.0.0.2';

/** The name of a receiver begins with its kind, followed by a number. */
export const RECEIVER_KINDS = [
  'healthy',
  'slow',
  'silent',
  'dead',
  'redirecting',
  'inside',
  'rebinding',
  'gone',
  'recovering',
] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];

const INSIDE = [
  TRAP_ADDRESS,
  '10.0.0.1',
  '169.254.169.254',
  '::1',
  `::ffff:${TRAP_ADDRESS}`,
  '64:ff9b::7f00:2',
  'fd00:ec2::254',
  '100.64.0.1',
  '192.168.1.1',
];

export interface HostileReceivers extends AsyncDisposable {
  resolve: NameResolver;
  /** As in production, except that 127.0.0.1 counts as public and any port is allowed. */
  rules: ReceiverRules;
  ca: string;
  urlOf(kind: ReceiverKind, number: number): string;
  /** By message id and receiver name: when the message was first answered with 200, and how often it was. */
  heard: Map<string, { atMs: number; happenedAtMs: number; times: number }>;
  /** Addresses to which a connection was made or tried. */
  addresses: Set<string>;
  trapped(): number;
  /** How often a name was resolved to an internal address. */
  ledInside(): number;
}

export interface Misbehaviour {
  /** How long slow receivers take to answer. */
  slowMs: number;
  /** For how long recovering receivers answer 500 at first. */
  downMs: number;
}

export async function openReceivers({ slowMs, downMs }: Misbehaviour): Promise<HostileReceivers> {
  const certificate = testCertificate(['*.example.com']);
  const heard: HostileReceivers['heard'] = new Map();
  const opened = performance.now();
  let [trapped, asked, inside] = [0, 0, 0];

  const receive: RequestListener = (request, response) => {
    const name = request.headers.host?.split(':')[0] ?? '';
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const id = `${String(request.headers['webhook-id'])} ${name}`;
      answer(kindOf(name), response, () => note(id, Buffer.concat(chunks).toString()));
    });
  };

  function answer(kind: ReceiverKind, response: ServerResponse, good: () => void): void {
    const ok = () => {
      good();
      response.end('ok');
    };
    switch (kind) {
      case 'silent':
        return;
      case 'slow':
        setTimeout(ok, slowMs);
        return;
      case 'redirecting':
        response.writeHead(307, { location: `https://${TRAP_ADDRESS}:${port}/` }).end();
        return;
      case 'gone':
        response.writeHead(410).end();
        return;
      case 'recovering':
        if (performance.now() - opened > downMs) ok();
        else response.writeHead(500).end('x'.repeat(1_000_000));
        return;
      default:
        ok();
    }
  }

  function note(id: string, body: string): void {
    const known = heard.get(id);
    if (known) known.times += 1;
    else heard.set(id, { atMs: Date.now(), happenedAtMs: timeOf(body), times: 1 });
  }

  const server = createServer(certificate, receive);
  const port = await listen(server, GOOD_ADDRESS, 0);
  const trap = createServer(certificate, (_, response) => void response.end());
  trap.on('connection', () => {
    trapped += 1;
  });
  await listen(trap, TRAP_ADDRESS, port);
  const watched = watchAddresses();
  const production = receiverRules({ toLoopback: false });
  return {
    ca: certificate.cert,
    rules: {
      ...production,
      allowsAddress: (address) => production.allowsAddress(address) || address === GOOD_ADDRESS,
      allowsPort: () => true,
    },
    async resolve(name) {
      const kind = kindOf(name);
      asked += 1;
      const address = kind === 'inside' ? INSIDE[asked % INSIDE.length]! : GOOD_ADDRESS;
      const given = kind === 'rebinding' && asked % 2 === 0 ? TRAP_ADDRESS : address;
      if (given !== GOOD_ADDRESS) inside += 1;
      return [given];
    },
    urlOf: (kind, number) => `https://${kind}${number}.example.com:${kind === 'dead' ? 1 : port}/hooks`,
    heard,
    addresses: watched.addresses,
    trapped: () => trapped,
    ledInside: () => inside,
    async [Symbol.asyncDispose]() {
      watched.stop();
      for (const each of [server, trap]) {
        each.closeAllConnections();
        each.close();
      }
    },
  };
}

const kindOf = (name: string): ReceiverKind => RECEIVER_KINDS.find((kind) => name.startsWith(kind)) ?? 'silent';

function timeOf(body: string): number {
  const message: unknown = JSON.parse(body);
  return isJsonObject(message) ? Date.parse(String(message.timestamp)) : Number.NaN;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  server.on('tlsClientError', () => {});
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Every address that a socket of this process tries from now on. */
function watchAddresses() {
  const addresses = new Set<string>();
  const onSocket = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    const note = (address: string) => addresses.add(address);
    socket.on('connectionAttempt', note);
    socket.on('connect', () => note(socket.remoteAddress ?? 'none'));
  };
  subscribe('net.client.socket', onSocket);
  return { addresses, stop: () => unsubscribe('net.client.socket', onSocket) };
}
