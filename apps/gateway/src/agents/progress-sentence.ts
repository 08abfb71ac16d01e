import type { ProgressSnapshot } from '@eloquentpoll/contracts';

/** The message of a progress notification. Options are quoted, so that they cannot pass for our own text. */
export function progressSentence({ progress, leader, tally }: ProgressSnapshot, options: readonly string[]): string {
  const voted = `${progress.received}/${progress.total} models voted`;
  return leader === null ? voted : `${voted}; leading: ${JSON.stringify(options[leader])} (${tally[leader] ?? 0})`;
}
