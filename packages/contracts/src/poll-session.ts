import { type Static, Type } from '@sinclair/typebox';
import { PanelStanding } from './panel-standing.ts';
import { SERVICE_TIERS } from './poll.ts';
import { PollResponse, RESULT_STATUSES } from './poll-response.ts';
import { POLL_STATUSES, Progress } from './progress.ts';
import { literals, nullable, Usd } from './vocabulary.ts';

/** The handle of an asynchronous poll. */
export const PollSession = Type.Object(
  {
    session_id: Type.String(),
    status: literals(POLL_STATUSES),
    result_id: nullable(Type.String()),
    status_url: Type.String(),
    result_url: Type.String(),
    service_tier: Type.Optional(literals(SERVICE_TIERS)),
  },
  { $id: 'PollSession' },
);
export type PollSession = Static<typeof PollSession>;

export const SessionStatusBody = Type.Object(
  {
    session_id: Type.String(),
    status: literals(POLL_STATUSES),
    result_id: nullable(Type.String()),
    progress: Type.Optional(Type.Ref(Progress)),
    result: Type.Optional(Type.Ref(PollResponse)),
    failure: Type.Optional(
      Type.Object({ code: Type.String(), error: Type.String() }, { description: 'The error that `/result` returns.' }),
    ),
  },
  {
    $id: 'SessionStatus',
    description:
      '`progress` is present while a worker runs the poll. With `include=result`, `result` or `failure` is present once the poll has ended.',
  },
);
export type SessionStatusBody = Static<typeof SessionStatusBody>;

export const SessionRunning = Type.Object(
  { session_id: Type.String(), status: literals(['running']), status_url: Type.String() },
  { $id: 'SessionRunning' },
);

export const QuickPollResult = Type.Object(
  {
    question: Type.String(),
    options: Type.Array(Type.String()),
    answer: nullable(Type.String()),
    reasoning: Type.String(),
    cost: Usd,
    theme: Type.Optional(Type.String({ description: '`free` if the poll was free.' })),
    status: Type.Optional(
      literals(RESULT_STATUSES, { description: '`partial`: missing votes could have changed the outcome.' }),
    ),
    poll_id: Type.Optional(Type.String()),
    result_url: Type.Optional(Type.String({ description: 'The public result, with its votes.' })),
    page_url: Type.Optional(Type.String({ description: 'The result as a page for people.' })),
    panel: Type.Optional(Type.Ref(PanelStanding)),
    options_source: Type.Optional(literals(['caller', 'server'])),
  },
  { $id: 'QuickPollResult' },
);
export type QuickPollResult = Static<typeof QuickPollResult>;
