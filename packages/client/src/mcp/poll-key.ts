import { type HostMessage, metaOf, pollArguments, REVISION } from './host-message.ts';

// With a key, a poll can be asked for again: the service answers with the first one instead of making another.

export interface PollKey {
  key: string;
  /** Whether the host knows it, because it is in the arguments. If not, it is sent as a header. */
  isOfHost: boolean;
}

/** Null for a message that makes no poll. */
export function keyFor(message: HostMessage): PollKey | null {
  const given = pollArguments(message);
  if (given === null) return null;
  const { idempotency_key: key } = given;
  // The service takes null for an argument that is missing, and refuses what is no text.
  if (key === undefined || key === null) return { key: crypto.randomUUID(), isOfHost: false };
  return { key: String(key), isOfHost: true };
}

export const keyHeaderFor = (made: PollKey | null): Record<string, string> =>
  made && !made.isOfHost ? { 'idempotency-key': made.key } : {};

/** What a model needs to know, because it would ask again and pay for two polls. */
export const leftPoll = ({ key, isOfHost }: PollKey): string =>
  isOfHost
    ? ' The poll may go on: the same call with the same idempotency_key joins it.'
    : ` The poll may go on and be charged: the same call with the idempotency_key ${key} joins it, and any other call makes another poll.`;

/**
 * Whether canceling the call must stop its poll: since revision 2026-07-28, unless the host gave a key. For a call that
 * has a key, the service does not do so itself.
 */
export const mustStop = (message: HostMessage, made: PollKey | null): made is PollKey =>
  made !== null && !made.isOfHost && Object.hasOwn(metaOf(message), REVISION);
