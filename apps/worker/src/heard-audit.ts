import type { PollSpec } from '@eloquentpoll/contracts';
import { providerMaxU } from '@eloquentpoll/models/panels';
import type { HeardAudit } from '@eloquentpoll/storage';
import { standing } from '@eloquentpoll/voting';
import type { PanelVotes } from './ask-panel.ts';

/**
 * What an audit needs to know of a poll that has ended. Models whose calls a cancellation aborted were not heard: the
 * audit asks them, or callers could choose what its panel was made without.
 */
export function heardAudit(spec: PollSpec, { votes, state, reason, arrivals }: PanelVotes): HeardAudit {
  const heard = votes.flatMap(({ seat, model_id, option, error }, i) =>
    error === 'aborted' ? [] : [{ seat, model_id, option, said: arrivals[i]?.confidence ?? null }],
  );
  const seats = new Set(heard.map(({ seat }) => seat));
  return {
    askedOrder: spec.track_record?.order ?? 'shuffled',
    threshold: spec.confidence_threshold,
    optionCount: spec.options.length,
    models: heard.map(({ model_id }) => model_id),
    votes: heard.map(({ option }) => option),
    said: heard.map(({ said }) => said),
    reason,
    winner: standing(state).leader,
    // Its models are asked whatever the poll's own limit was.
    maxU: providerMaxU({ seats: spec.seats.filter((_, seat) => !seats.has(seat)) }),
  };
}
