import type { ClusterFront } from '@eloquentpoll/services/redis-cluster';
import { type FaultProxy, openFaultProxy } from '../proxy/fault-proxy.ts';
import { UNDISTURBED } from '../proxy/link-conditions.ts';

// The network of a Redis cluster: each server has one link for clients and its replica, and one for cluster messages.
// Each server connects from an address of its own, so that it can be cut off from the others.

export interface ClusterNetwork extends AsyncDisposable {
  /** One per server, for clients and replicas. */
  readonly links: readonly FaultProxy[];
  readonly front: (name: string) => Promise<ClusterFront>;
  /** Blocks all cluster messages between this server and the others. Returns false if that is not possible here. */
  isolate(name: string): boolean;
  rejoin(): void;
}

const NOWHERE = { host: '127.0.0.1', port: 1 };

export function openClusterNetwork(seed: string): ClusterNetwork {
  const opened = new AsyncDisposableStack();
  const links: FaultProxy[] = [];
  const buses = new Map<string, { bus: FaultProxy; from: string | null }>();
  return {
    links,
    async front(name) {
      // Only on Linux does every address of 127.0.0.0/8 exist.
      const from: string | null = process.platform === 'linux' ? `127.0.0.${10 + buses.size}` : null;
      const [link, bus] = await Promise.all([
        openFaultProxy(name, NOWHERE, `${seed}|${name}`),
        openFaultProxy(`${name}-bus`, NOWHERE, `${seed}|${name}-bus`),
      ]);
      opened.use(link);
      opened.use(bus);
      links.push(link);
      buses.set(name, { bus, from });
      return {
        port: link.port,
        busPort: bus.port,
        ...(from && { from }),
        lead({ port, busPort }) {
          link.target = { ...NOWHERE, port };
          bus.target = { ...NOWHERE, port: busPort };
        },
      };
    },
    isolate(name) {
      const from = buses.get(name)?.from;
      if (!from) return false;
      for (const [other, { bus }] of buses) {
        const refuse = other === name || from;
        bus.set({ refuse });
        bus.reset(refuse === true ? undefined : refuse);
      }
      return true;
    },
    rejoin() {
      for (const { bus } of buses.values()) bus.set(UNDISTURBED);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
