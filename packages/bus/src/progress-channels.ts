import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { type OnRefused, readSnapshot } from './read-stored.ts';
import type { SubscriptionListener, Subscriptions } from './subscriptions.ts';

// The channels of all polls that are watched here, and one inbox for the ends of polls whose callers wait, because a
// channel per such poll would mean joining and leaving one for each. Pub/sub can lose messages, so a message is only a
// hint: after a reconnect or an unreadable message, watchers get `null` and read the state again.

export type OnNews = (snapshot: ProgressSnapshot | null) => void;

export interface Watch {
  close(): void;
}

export interface Hearing extends Watch {
  /** Resolves when the subscription is active, or has been left to a later attempt. */
  readonly stands: Promise<void>;
}

export interface ProgressChannels {
  /** Resolves when the subscription is active: everything published after that is seen. Rejects while Redis is down. */
  watch(channel: string, onNews: OnNews): Promise<Watch>;
  /**
   * Notifies of the end of a poll whose job names this process. Resolves when the inbox is active, or has been left to
   * a later attempt.
   */
  watchEnd(pollId: string, onNews: OnNews): Promise<Watch>;
  awaits(pollId: string): boolean;
  /** Receives all messages on a channel until closed. Lost messages are not repeated. */
  hear(channel: string, listener: (message: string) => void): Hearing;
  /** Number of channels and ends watched here, for metrics and leak checks. */
  watched(): number;
  close(): Promise<void>;
}

interface Topic {
  watchers: Set<OnNews>;
  subscribed: Promise<unknown>;
}

export function openChannels(
  /** Opens the connections: one, or one to each master of a cluster. */
  open: (listener: SubscriptionListener) => Subscriptions,
  inbox: string,
  onRefused: OnRefused,
  subscribeTimeoutMs: number,
): ProgressChannels {
  const topics = new Map<string, Topic>();
  const ends = new Map<string, Set<OnNews>>();
  let inboxStands: Promise<void> | undefined;
  const listeners = new Map<string, Set<(message: string) => void>>();
  const subscriptions = open({
    heard(channel, message) {
      const heard = listeners.get(channel);
      if (heard) {
        for (const hear of heard) hear(message);
        return;
      }
      const topic = topics.get(channel);
      if (!topic && channel !== inbox) return;
      const snapshot = readSnapshot(message);
      if (!snapshot) onRefused('snapshot');
      for (const notify of topic?.watchers ?? ends.get(snapshot?.poll_id ?? '') ?? []) notify(snapshot);
    },
    restored(channels) {
      for (const channel of channels) for (const notify of topics.get(channel)?.watchers ?? []) notify(null);
      if (channels.includes(inbox)) endsMayBeMissed();
    },
  });

  function endsMayBeMissed(): void {
    for (const watchers of ends.values()) for (const notify of watchers) notify(null);
  }

  /**
   * Waits for the inbox only for a limited time. If it becomes active later, ends published before that may have been
   * missed.
   */
  function joinInbox(): Promise<void> {
    const joined = subscriptions.join(inbox);
    return withTimeout(joined, subscribeTimeoutMs).catch(() => void joined.then(endsMayBeMissed, () => undefined));
  }

  function leave(channel: string, onNews: OnNews): void {
    const topic = topics.get(channel);
    if (!topic?.watchers.delete(onNews) || topic.watchers.size > 0) return;
    topics.delete(channel);
    subscriptions.part(channel);
  }

  return {
    async watch(channel, onNews) {
      let topic = topics.get(channel);
      if (!topic) {
        topic = {
          watchers: new Set(),
          subscribed: withTimeout(subscriptions.join(channel), subscribeTimeoutMs),
        };
        topics.set(channel, topic);
      }
      topic.watchers.add(onNews);
      try {
        await topic.subscribed;
      } catch (error) {
        leave(channel, onNews);
        throw error;
      }
      return { close: () => leave(channel, onNews) };
    },
    async watchEnd(pollId, onNews) {
      const watchers = ends.get(pollId) ?? new Set();
      ends.set(pollId, watchers.add(onNews));
      inboxStands ??= joinInbox();
      await inboxStands;
      return {
        close() {
          if (watchers.delete(onNews) && watchers.size === 0) ends.delete(pollId);
        },
      };
    },
    awaits: (pollId) => ends.has(pollId),
    hear(channel, listener) {
      const heard = listeners.get(channel) ?? new Set();
      listeners.set(channel, heard.add(listener));
      const joined = withTimeout(subscriptions.join(channel), subscribeTimeoutMs);
      return {
        stands: joined.catch(() => undefined),
        close() {
          if (!heard.delete(listener) || heard.size > 0) return;
          listeners.delete(channel);
          subscriptions.part(channel);
        },
      };
    },
    watched: () => topics.size + ends.size,
    async close() {
      topics.clear();
      ends.clear();
      await subscriptions.close();
    },
  };
}
