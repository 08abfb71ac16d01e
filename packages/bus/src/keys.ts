// Every key of a poll carries the poll's id as hash tag and each shard of the queue has one of its own, so that a Redis
// Cluster keeps what one command touches together and spreads the rest.

import type { ServiceTier } from '@eloquentpoll/contracts';
import type { SHARD_KEYS } from './queue-scripts.ts';
import { shardTag } from './shard-tags.ts';

export interface ShardKeys extends Readonly<Record<(typeof SHARD_KEYS)[number], string>> {
  /** Begins the channels on which consumers are sent jobs. */
  readonly channels: string;
}

export interface Keys {
  /** The name of the connection that hears messages. */
  readonly watcher: string;
  shard(lane: ServiceTier, shard: number): ShardKeys;
  /** The hash of a running poll: who owns it, its newest snapshot, its votes. */
  run(pollId: string): string;
  /** The channel on which all snapshots of a poll are published. */
  channel(pollId: string): string;
  /** The channel of a process that waits for the ends of polls. */
  inbox(process: string): string;
  /** The channel with the ids of polls that their callers canceled. */
  readonly cancels: string;
  /** The same of polls that were deleted. */
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
