import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { chance } from '../terminal/chance.ts';
import { type LinkState, openLane } from './lane.ts';
import { type LinkConditions, UNDISTURBED } from './link-conditions.ts';

// A TCP proxy between two processes that injects network faults on demand. Without faults it only adds the time of a
// copy. It does not interpret the bytes that pass.

export interface Endpoint {
  host: string;
  port: number;
}

export interface FaultProxy extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** Applies from now on, to existing and to new connections. */
  set(conditions: LinkConditions): void;
  /** Resets both ends of every connection, or of those from this address. Returns how many connections it reset. */
  reset(from?: string): number;
  /** Resets the far ends; the near ends keep a half-open connection. Returns how many. */
  halfOpen(): number;
  /** Where new connections go. Set when a server comes back at another address. */
  target: Endpoint;
  readonly connections: number;
  /** New connections that were reset. */
  readonly refused: number;
}

interface Link {
  near: Socket;
  far: Socket;
  from: string | undefined;
  lanes: { mute(): void }[];
}

export async function openFaultProxy(name: string, target: Endpoint, seed = name): Promise<FaultProxy> {
  const links = new Set<Link>();
  /** Half-open near ends. */
  const abandoned = new Set<Socket>();
  let conditions: LinkConditions = UNDISTURBED;
  let passable = Promise.withResolvers<void>();
  passable.resolve();
  let refused = 0;
  const state: LinkState = {
    get conditions() {
      return conditions;
    },
    passable: () => passable.promise,
    share: chance(seed).share,
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    near.on('error', () => {});
    if (conditions.refuse === true || (conditions.refuse && conditions.refuse === near.remoteAddress)) {
      refused += 1;
      reset(near);
      return;
    }
    const far = connect({ ...proxy.target, allowHalfOpen: true, noDelay: true });
    const link: Link = {
      near,
      far,
      from: near.remoteAddress,
      lanes: [openLane(near, far, state), openLane(far, near, state)],
    };
    links.add(link);
    far.on('error', () => cut(link));
    near.on('error', () => cut(link));
    for (const end of [near, far]) {
      end.on('close', () => {
        if (near.destroyed && far.destroyed) links.delete(link);
        else if (!abandoned.has(near) && end.errored) cut(link);
      });
    }
  });

  function cut(link: Link): void {
    links.delete(link);
    for (const lane of link.lanes) lane.mute();
    reset(link.far);
    if (!abandoned.has(link.near)) reset(link.near);
  }

  const proxy: FaultProxy = {
    name,
    get port() {
      return (server.address() as AddressInfo).port;
    },
    set(next) {
      if (next.blackhole && !conditions.blackhole) passable = Promise.withResolvers();
      if (!next.blackhole) passable.resolve();
      conditions = next;
    },
    reset(from) {
      const cutNow = [...links].filter((link) => from === undefined || link.from === from);
      for (const link of cutNow) cut(link);
      if (from === undefined) for (const near of abandoned) reset(near);
      return cutNow.length;
    },
    halfOpen() {
      const left = [...links];
      for (const link of left) {
        abandoned.add(link.near);
        link.near.on('close', () => abandoned.delete(link.near));
        link.near.once('end', () => link.near.destroy());
        cut(link);
      }
      return left.length;
    },
    target,
    get refused() {
      return refused;
    },
    get connections() {
      return links.size + abandoned.size;
    },
    async [Symbol.asyncDispose]() {
      proxy.set(UNDISTURBED);
      proxy.reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return proxy;
}

/** A socket that has sent its FIN cannot be reset and would stay open for ever, so it is destroyed. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
