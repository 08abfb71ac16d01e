import calculateSlot from 'cluster-key-slot';
import type { Cluster, Redis } from 'ioredis';
import { backoffMs, quit } from './connections.ts';
import { pinged, type SubscriptionListener, type Subscriptions } from './subscriptions.ts';

// Channels belong to slots, so each is subscribed on the master that has its slot at the moment, with one connection
// per master that is needed. If a slot moves, a master fails over or a connection ends, its channels become homeless:
// they are joined again where the slot is, and their watchers are asked to read what they may have missed.

interface Membership {
  readonly slot: number;
  /** The `host:port` of the server where it is subscribed or being subscribed. Null while homeless. */
  home: string | null;
  stands: boolean;
}

const MAX_HOPS = 3;

export function subscribeInCluster(
  /** Used to find the master of a slot. */
  cluster: Cluster,
  openNode: (address: string) => Redis,
  { heard, restored }: SubscriptionListener,
  onError: (error: Error) => void,
): Subscriptions {
  const memberships = new Map<string, Membership>();
  const nodes = new Map<string, Redis>();
  /** Redirections received since the slot map was read. */
  const movedTo = new Map<number, string>();
  let timer: NodeJS.Timeout | null = null;
  let failures = 0;
  let isRestoring = false;
  let isClosed = false;

  const ownerOf = (slot: number): string | undefined => movedTo.get(slot) ?? cluster.slots[slot]?.[0];

  cluster.on('refresh', onNewMap);
  function onNewMap(): void {
    movedTo.clear();
    loseHome(({ slot, home }) => home !== null && home !== ownerOf(slot));
  }

  function nodeAt(address: string): Redis {
    const known = nodes.get(address);
    if (known) return known;
    const node = pinged(openNode(address));
    nodes.set(address, node);
    node.on('error', onError);
    node.on('smessage', heard);
    node.on('end', () => {
      nodes.delete(address);
      loseHome(({ home }) => home === address);
    });
    // The server ended or refused a subscription because its slot moved.
    node.on('moved', () => setImmediate(() => compare(address, node)));
    node.connect().catch(() => undefined);
    return node;
  }

  function compare(address: string, node: Redis): void {
    if (nodes.get(address) !== node) return;
    const left = new Set(node.condition?.subscriber ? node.condition.subscriber.channels('ssubscribe') : []);
    loseHome(({ home, stands }, channel) => home === address && stands && !left.has(channel));
  }

  function loseHome(isLost: (membership: Membership, channel: string) => boolean): void {
    let isAny = false;
    for (const [channel, membership] of memberships) {
      if (!isLost(membership, channel)) continue;
      const { home } = membership;
      // The old server may not know that the slot moved, because it was paused or cut off from the others.
      if (home !== null)
        nodes
          .get(home)
          ?.sunsubscribe(channel)
          .catch(() => undefined);
      membership.home = null;
      membership.stands = false;
      isAny = true;
    }
    if (isAny) restoreIn(0);
  }

  /** Subscribes to channels of one slot. */
  async function subscribe(slot: number, channels: readonly string[]): Promise<void> {
    for (let hop = 1; ; hop++) {
      const address = ownerOf(slot);
      if (address === undefined) throw new Error(`no master has slot ${slot}`);
      const wanted = channels.filter((channel) => memberships.has(channel));
      if (wanted.length === 0) return;
      for (const channel of wanted) memberships.get(channel)!.home = address;
      try {
        await nodeAt(address).ssubscribe(...wanted);
        for (const channel of wanted) stand(channel, address);
        return;
      } catch (error) {
        for (const channel of wanted) leaveHome(channel, address);
        const to = error instanceof Error ? /^MOVED \d+ (\S+)$/.exec(error.message)?.[1] : undefined;
        if (to === undefined || hop === MAX_HOPS) throw error;
        movedTo.set(slot, to);
        cluster.refreshSlotsCache();
      }
    }
  }

  function stand(channel: string, address: string): void {
    const membership = memberships.get(channel);
    if (membership?.home === address) membership.stands = true;
  }

  function leaveHome(channel: string, address: string): void {
    const membership = memberships.get(channel);
    if (membership?.home === address) membership.home = null;
  }

  function restoreIn(ms: number): void {
    if (timer || isRestoring || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      void restore();
    }, ms);
  }

  async function restore(): Promise<void> {
    isRestoring = true;
    const homeless = [...memberships].filter(([, { home }]) => home === null);
    const bySlot = Map.groupBy(homeless, ([, { slot }]) => slot);
    const tries = [...bySlot].map(async ([slot, members]) => {
      const channels = members.map(([channel]) => channel);
      await subscribe(slot, channels);
      restored(channels);
    });
    const failed = (await Promise.allSettled(tries)).filter(({ status }) => status === 'rejected');
    isRestoring = false;
    failures = failed.length > 0 ? failures + 1 : 0;
    if (failed.length > 0) cluster.refreshSlotsCache();
    if ([...memberships.values()].some(({ home }) => home === null)) restoreIn(backoffMs(failures));
  }

  return {
    async join(channel) {
      const slot = calculateSlot(channel);
      memberships.set(channel, { slot, home: null, stands: false });
      try {
        await subscribe(slot, [channel]);
      } catch (error) {
        restoreIn(backoffMs(1));
        throw error;
      }
    },
    part(channel) {
      const home = memberships.get(channel)?.home;
      memberships.delete(channel);
      // Not awaited: the connection sends it after the subscription and before the next one.
      if (home)
        nodes
          .get(home)
          ?.sunsubscribe(channel)
          .catch(() => undefined);
    },
    async close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      cluster.off('refresh', onNewMap);
      memberships.clear();
      await Promise.all([...nodes.values()].map((node) => quit(node)));
    },
  };
}
