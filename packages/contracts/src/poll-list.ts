import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { Metadata } from './metadata.ts';
import { PANEL_NAMES, SERVICE_TIERS } from './poll.ts';
import { SessionStatusBody } from './poll-session.ts';
import { POLL_STATUSES } from './progress.ts';
import { CLOSE_CALL, DateTime, literals, nullable, Usd, Uuid } from './vocabulary.ts';

// Polls in the lists of the account that asked them, however they were asked.

export const ListedPoll = Type.Object(
  {
    session_id: Type.String(),
    status: literals(POLL_STATUSES),
    result_id: nullable(Type.String({ description: 'The `poll_id` of the result, once there is one.' })),
    question: Type.String(),
    preset: literals(PANEL_NAMES),
    service_tier: literals(SERVICE_TIERS),
    metadata: Metadata,
    key_id: nullable(Type.String({ description: 'The API key that submitted the poll; null for a login.' })),
    winning_option: nullable(Type.String()),
    is_tie: Type.Boolean(),
    is_close: Type.Boolean({ description: CLOSE_CALL }),
    cost_usd: nullable(Usd),
    created_at: DateTime,
    ended_at: nullable(DateTime),
    expires_at: nullable({ ...DateTime, description: 'When the poll is deleted.' }),
  },
  { $id: 'ListedPoll' },
);
export type ListedPoll = Static<typeof ListedPoll>;

const position = (description: string) => nullable(Type.String({ description }));

export const PollList = Type.Object(
  {
    polls: Type.Array(Type.Ref(ListedPoll), { maxItems: LIMITS.poll_list.max, description: 'Newest first.' }),
    has_more: Type.Boolean({
      description:
        'Whether there may be more polls in the direction of this page. If filters match rarely, it can be true although this page is short or empty.',
    }),
    after: position('Send it as `after` to get the next page, with older polls; null if there is none.'),
    before: position('Send it as `before` to get the page with newer polls; null if there is none.'),
  },
  { $id: 'PollList' },
);
export type PollList = Static<typeof PollList>;

/** Closed: a filter with a mistyped name would find every poll. */
export const PollListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LIMITS.poll_list.max, default: LIMITS.poll_list.default }),
    ),
    after: Type.Optional(Type.String({ description: 'A `session_id`; the response lists older polls.' })),
    before: Type.Optional(
      Type.String({ description: 'A `session_id`; the response lists newer polls. Not together with `after`.' }),
    ),
    status: Type.Optional(literals(POLL_STATUSES)),
    created_after: Type.Optional({ ...DateTime, description: 'Accepted at this time or later.' }),
    created_before: Type.Optional({ ...DateTime, description: 'Accepted before this time.' }),
    preset: Type.Optional(literals(PANEL_NAMES)),
    key_id: Type.Optional(Uuid),
    close: Type.Optional(
      Type.Boolean({ description: '`true`: only close calls (see `is_close`); `false`: only other polls.' }),
    ),
    metadata: Type.Optional({
      ...Metadata,
      description: 'Only polls with these pairs, such as `metadata[customer]=42`.',
    }),
  },
  { additionalProperties: false },
);
export type PollListQuery = Static<typeof PollListQuery>;

/** What DELETE /api/results/{id} deleted. */
export const PollDeleted = Type.Object({ deleted: Type.Boolean(), session_id: Type.String() }, { $id: 'PollDeleted' });
export type PollDeleted = Static<typeof PollDeleted>;

export const StatusesQuery = Type.Object({
  ids: Type.String({
    minLength: 1,
    maxLength: LIMITS.statuses * 40,
    description: `At most ${LIMITS.statuses} values of \`session_id\`, separated by commas.`,
  }),
});
export type StatusesQuery = Static<typeof StatusesQuery>;

export const SessionStatuses = Type.Object(
  {
    polls: Type.Array(Type.Ref(SessionStatusBody), { description: 'In the order of `ids`, without `progress`.' }),
    not_found: Type.Array(Type.String(), { description: 'Ids of polls that the account does not have.' }),
  },
  { $id: 'SessionStatuses' },
);
export type SessionStatuses = Static<typeof SessionStatuses>;
