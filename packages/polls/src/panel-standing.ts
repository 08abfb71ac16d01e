import type { PanelStanding, PollSpec, Vote } from '@eloquentpoll/contracts';

/** `effectiveVotes`: how many independent votes the votes are worth. Null if unknown. */
export function panelStanding(
  { seats }: Pick<PollSpec, 'seats'>,
  votes: readonly Vote[],
  effectiveVotes: number | null,
): PanelStanding {
  const heard = votes.filter(({ option }) => option !== null);
  return {
    asked: votes.length,
    heard: heard.length,
    missing: votes.flatMap(({ option, model_id, error }) =>
      option === null ? [{ model_id, error: error ?? 'provider_error' }] : [],
    ),
    vendors_heard: new Set(heard.map(({ seat }) => seats[seat]!.family)).size,
    effective_votes: effectiveVotes === null ? null : Math.round(10 * effectiveVotes) / 10,
    slowest_heard_ms: heard.length === 0 ? null : Math.max(...heard.map(({ latency_ms }) => latency_ms)),
  };
}
