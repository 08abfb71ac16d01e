// Every key of a poll carries the poll's id as hash tag and the queue has one of its own, so that a Redis Cluster keeps
// what one command touches together and spreads the rest.

import type { ServiceTier } from '@eloquentpoll/contracts';

export interface Keys {
  /** Prefix of BullMQ's keys. */
  readonly queue: string;
  /** The present turn of a lane's fair order, in the queue's slot of a cluster. */
  turn(lane: ServiceTier): string;
  /** The hash of a running poll: who owns it, its newest snapshot, its votes. */
  run(pollId: string): string;
  /** The channel on which all snapshots of a poll are published. */
  channel(pollId: string): string;
  /** The channel on which only its last one is, for those who have no use for the others. */
  endChannel(pollId: string): string;
  /** The channel with the ids of polls that their callers canceled. */
  readonly cancels: string;
  /** The same of polls that were deleted. */
  readonly deletions: string;
}

export function keysUnder(prefix: string): Keys {
  const open = `${prefix}:`;
  return {
    queue: `{${prefix}}`,
    turn: (lane) => `{${prefix}}:turn${lane === 'standard' ? '' : `:${lane}`}`,
    run: (pollId) => `${open}{${pollId}}:run`,
    channel: (pollId) => `${open}{${pollId}}`,
    endChannel: (pollId) => `${open}{${pollId}}:end`,
    cancels: `${open}cancels`,
    deletions: `${open}deletions`,
  };
}
