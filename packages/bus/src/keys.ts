// All keys of a poll have its id as hash tag, and each shard of the queue has its own tag. So a Redis Cluster keeps the
// keys of one command together and spreads the rest.

import type { ServiceTier } from '@eloquentpoll/contracts';
import type { SHARD_KEYS } from './queue-scripts.ts';
import { shardTag } from './shard-tags.ts';

export interface ShardKeys extends Readonly<Record<(typeof SHARD_KEYS)[number], string>> {
  /** Prefix of the channels on which consumers are sent jobs. */
  readonly channels: string;
}

export interface Keys {
  /** The name of the connection that receives messages. */
  readonly watcher: string;
  shard(lane: ServiceTier, shard: number): ShardKeys;
  /** The hash of a running poll: owner, newest snapshot, votes. */
  run(pollId: string): string;
  /** The channel on which all snapshots of a poll are published. */
  channel(pollId: string): string;
  /** The channel of a process that waits for the ends of polls. */
  inbox(process: string): string;
  /** The channel for the ids of canceled polls. */
  readonly cancels: string;
  /** The channel for the ids of deleted polls. */
  readonly deletions: string;
}

export function keysUnder(prefix: string): Keys {
  const open = `${prefix}:`;
  return {
    watcher: `{${prefix}}-watch`,
    shard(lane, shard) {
      const queue = `{${shardTag(prefix, shard)}}:${lane}`;
      return {
        waiting: `${queue}:waiting`,
        taken: `${queue}:taken`,
        jobs: `${queue}:jobs`,
        clock: `${queue}:clock`,
        idle: `${queue}:idle`,
        channels: `${queue}:to:`,
      };
    },
    run: (pollId) => `${open}{${pollId}}:run`,
    channel: (pollId) => `${open}{${pollId}}`,
    inbox: (process) => `${open}{${process}}:ends`,
    cancels: `${open}cancels`,
    deletions: `${open}deletions`,
  };
}
