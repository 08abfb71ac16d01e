import { type Static, Type } from '@sinclair/typebox';
import { VOTE_ERRORS } from './poll.ts';
import { literals, Milliseconds, nullable } from './vocabulary.ts';

/** How the panel stood when a poll ended: a few models that answered must not look like all of them. */
export const PanelStanding = Type.Object(
  {
    asked: Type.Integer({
      minimum: 0,
      description: 'Models that were asked and not aborted; one for each of `votes`.',
    }),
    heard: Type.Integer({ minimum: 0, description: 'Models that gave a valid vote.' }),
    missing: Type.Array(Type.Object({ model_id: Type.String(), error: literals(VOTE_ERRORS) }), {
      description: 'Models that were asked and gave no valid vote, and why.',
    }),
    vendors_heard: Type.Integer({ minimum: 0, description: 'Labs whose models gave a valid vote.' }),
    effective_votes: nullable(
      Type.Number({
        minimum: 0,
        description:
          'How many independent votes these votes are worth, estimated from how often the models agreed in other polls; null until enough polls are recorded.',
      }),
    ),
    slowest_heard_ms: nullable({
      ...Milliseconds,
      description: 'Latency of the slowest valid vote; null if there is none.',
    }),
  },
  { $id: 'PanelStanding' },
);
export type PanelStanding = Static<typeof PanelStanding>;
