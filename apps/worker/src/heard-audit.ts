import type { PollSpec } from '@eloquentpoll/contracts';
import { providerMaxU } from '@eloquentpoll/models/panels';
import type { HeardAudit } from '@eloquentpoll/storage';
import { standing } from '@eloquentpoll/voting';
import type { PanelVotes } from './ask-panel.ts';

/**
 * What an audit needs to know about a finished poll. Models whose calls were aborted by a cancellation count as not
 * heard, so the audit asks them. Otherwise callers could influence which models are missing from the record.
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
    // The audit asks all of these models, whatever the poll's own limit was.
    maxU: providerMaxU({ seats: spec.seats.filter((_, seat) => !seats.has(seat)) }),
    panelU: providerMaxU({ seats: spec.seats }),
  };
}
