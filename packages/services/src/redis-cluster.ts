import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@eloquentpoll/launch/failure';
import { Redis } from 'ioredis';
import { freePort, samePort } from './free-port.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis.ts';
import { findRedis } from './redis-program.ts';

// A cluster of Redis servers on loopback: three masters that share the slots, each with one replica.

export interface ClusterServer extends RedisServer {
  /** Name of its process and folder. */
  name: string;
  /** Its node id in the cluster. */
  id: string;
  /** The index from 0 of the master that it was at first, or followed. */
  shard: number;
  began: 'master' | 'replica';
  busPort: number;
  /** The ports at which other servers and clients reach it. */
  announced: { port: number; busPort: number };
  /** To be called after its process has ended: starts it at the same ports, with or without its data. */
  startAgain(how?: { empty: boolean }): Promise<void>;
}

export interface RedisCluster {
  /** Lists all servers, like REDIS_URL. */
  url: string;
  version: string;
  servers: ClusterServer[];
}

/** A proxy in front of a server: other servers and clients know its ports instead of the server's. */
export interface ClusterFront {
  port: number;
  busPort: number;
  /** The source address for the server's own connections. */
  from?: string;
  /** Sets the server to which connections are passed on. */
  lead(server: { port: number; busPort: number }): void;
}

export interface ClusterOptions extends Omit<RedisOptions, 'name' | 'settings' | 'ports'> {
  /** Opens a proxy before the server of this name is started. */
  front?: (name: string) => Promise<ClusterFront>;
}

const HOST = '127.0.0.1';
const MASTERS = 3;
const SLOTS = 16_384;
const FORMS_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** A master is considered failed when most others have not heard from it for this time. */
const NODE_TIMEOUT_MS = 2_000;

export async function startRedisCluster(options: ClusterOptions): Promise<RedisCluster> {
  if ((await findRedis(options.env ?? process.env, options.tools)).container)
    throw new Failure('A Redis cluster needs redis-server or valkey-server 7 or newer on this machine: install one.');
  const places = Array.from({ length: 2 * MASTERS }, (_, i) => ({ shard: i % MASTERS, isMaster: i < MASTERS }));
  const servers = await Promise.all(places.map((place) => startServer(place, options)));
  await form(servers);
  const hosts = servers.map(({ announced }) => `${HOST}:${announced.port}`).join(',');
  return {
    url: `redis://:${options.password}@${hosts}`,
    version: servers[0]!.version,
    servers,
  };
}

async function startServer(
  { shard, isMaster }: { shard: number; isMaster: boolean },
  { front: openFront, ...options }: ClusterOptions,
): Promise<ClusterServer> {
  const began = isMaster ? 'master' : 'replica';
  const name = `redis-${began}-${shard + 1}`;
  const front = await openFront?.(name);
  let busPort = 0;
  const settings = () => ({
    ...settingsOf(busPort, options.password),
    ...(front && {
      'cluster-announce-ip': HOST,
      'cluster-announce-port': front.port,
      'cluster-announce-bus-port': front.busPort,
      ...(front.from && { 'bind-source-addr': front.from }),
    }),
  });
  const onFreePort = async () => {
    busPort = await freePort();
    return settings();
  };
  const first = await startRedis({ ...options, name, settings: onFreePort });
  front?.lead({ port: first.port, busPort });
  const id = await command(first, (redis) => redis.call('CLUSTER', 'MYID'));
  const server: ClusterServer = {
    ...first,
    name,
    id,
    shard,
    began,
    busPort,
    announced: { port: front?.port ?? first.port, busPort: front?.busPort ?? busPort },
    async startAgain({ empty } = { empty: false }) {
      const log = join(options.group.folder, name, 'appendonlydir');
      if (empty) rmSync(log, { recursive: true, force: true });
      server.process = (
        await startRedis({ ...options, name, settings: settings(), ports: () => samePort(first.port) })
      ).process;
    },
  };
  return server;
}

const settingsOf = (busPort: number, password: string): Record<string, string | number> => ({
  'cluster-enabled': 'yes',
  'cluster-config-file': 'nodes.conf',
  'cluster-node-timeout': NODE_TIMEOUT_MS,
  'cluster-port': busPort,
  // The remaining slots stay available while a master is away.
  'cluster-require-full-coverage': 'no',
  // A replica whose link has just broken may take over.
  'cluster-replica-validity-factor': 0,
  masterauth: password,
  // All servers end together, so none waits for its replica.
  'shutdown-timeout': 0,
  // The only replica is there already, so there is no need to wait for more.
  'repl-diskless-sync-delay': 0,
});

async function form(servers: readonly ClusterServer[]): Promise<void> {
  const isNew = (await infoOf(servers[0]!)).includes('known_nodes:1\r');
  const masters = servers.filter(({ began }) => began === 'master');
  if (isNew) for (const master of masters) await takeSlots(master);
  // After a restart too, every server must meet every other, because their ports have changed.
  const meetOthers = (one: ClusterServer) =>
    Promise.all(servers.map((other) => (one === other ? null : meet(one, other))));
  await Promise.all(servers.map(meetOthers));
  await until('know each other', servers, async (server) => {
    const nodes = await nodesOf(server);
    if (nodes.some((line) => /handshake|noaddr/.test(line))) return false;
    // A handshake that takes longer than the node timeout, as on a busy machine, is given up.
    if (nodes.length < servers.length) await meetOthers(server);
    return nodes.length === servers.length;
  });
  if (isNew) {
    for (const replica of servers.filter(({ began }) => began === 'replica'))
      await command(replica, (redis) => redis.call('CLUSTER', 'REPLICATE', masters[replica.shard]!.id));
  }
  await until('copy each other', servers, async (server) =>
    /connected_slaves:[1-9]|master_link_status:up/.test(await command(server, (redis) => redis.info('replication'))),
  );
  // A replica refuses to end until its first log is written.
  await until('write their logs', servers, async (server) =>
    /aof_enabled:0|aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(
      await command(server, (redis) => redis.info('persistence')),
    ),
  );
  await until('agree', servers, async (server) => {
    const nodes = await nodesOf(server);
    const replicas = nodes.filter((line) => / (myself,)?slave /.test(line));
    const state = await infoOf(server);
    return (
      state.includes('cluster_state:ok') && replicas.length === MASTERS && !nodes.some((line) => /fail/.test(line))
    );
  });
}

async function takeSlots(master: ClusterServer): Promise<void> {
  const [from, to] = [master.shard, master.shard + 1].map((n) => Math.round((n * SLOTS) / MASTERS));
  await command(master, (redis) => redis.call('CLUSTER', 'ADDSLOTSRANGE', from!, to! - 1));
  await command(master, (redis) => redis.call('CLUSTER', 'SET-CONFIG-EPOCH', master.shard + 1));
}

const meet = (first: ClusterServer, { announced: { port, busPort } }: ClusterServer): Promise<string> =>
  command(first, (redis) => redis.call('CLUSTER', 'MEET', HOST, port, busPort));

async function until(
  what: string,
  servers: readonly ClusterServer[],
  holds: (server: ClusterServer) => Promise<boolean>,
): Promise<void> {
  const giveUpAt = performance.now() + FORMS_WITHIN_MS;
  for (const server of servers) {
    while (!(await holds(server))) {
      if (performance.now() > giveUpAt || server.process.hasEnded)
        throw new Failure(`The servers of the Redis cluster did not ${what} in time.`, server.process.lastLines);
      await sleep(LOOK_EVERY_MS);
    }
  }
}

const infoOf = (server: ClusterServer): Promise<string> => command(server, (redis) => redis.call('CLUSTER', 'INFO'));

/** What the server knows of each node, one line per node. */
async function nodesOf(server: ClusterServer): Promise<string[]> {
  return (await command(server, (redis) => redis.call('CLUSTER', 'NODES'))).trim().split('\n');
}

/** Sends one command on a separate connection; returns the answer as text. */
async function command({ url }: Pick<RedisServer, 'url'>, send: (redis: Redis) => Promise<unknown>): Promise<string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    commandTimeout: 5_000,
    connectTimeout: 5_000,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return String(await send(redis));
  } finally {
    redis.disconnect();
  }
}
