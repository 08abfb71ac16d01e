import type { PollSpec } from '@eloquentpoll/contracts';
import { providerMaxU } from '@eloquentpoll/models/panels';
import type { HeardAudit } from '@eloquentpoll/storage';
import { standing } from '@eloquentpoll/voting';
import type { PanelVotes } from './ask-panel.ts';

/** What an audit needs to know of a poll that has ended. */
export function heardAudit(spec: PollSpec, { votes, state, reason, arrivals }: PanelVotes): HeardAudit {
  const heard = new Set(votes.map(({ seat }) => seat));
  return {
    askedOrder: spec.track_record?.order ?? 'shuffled',
    threshold: spec.confidence_threshold,
    optionCount: spec.options.length,
    models: votes.map(({ model_id }) => model_id),
    votes: votes.map(({ option }) => option),
    said: votes.map((_, i) => arrivals[i]?.confidence ?? null),
    reason,
    winner: standing(state).leader,
    maxU: providerMaxU({ seats: spec.seats.filter((_, seat) => !heard.has(seat)) }),
  };
}
