import { type Static, Type } from '@sinclair/typebox';
import { ListedPoll } from './poll-list.ts';
import { PollResponse } from './poll-response.ts';
import { DateTime, literals, nullable, Probability, Usd, Uuid } from './vocabulary.ts';

// Everything that an account has here, as JSON lines. A line says by `type` what it is; readers skip types that they do
// not know, because later releases have more.

const line = <const T extends string>(type: T) => ({ type: literals([type]) });

const AccountLine = Type.Object({
  ...line('account'),
  user_id: Uuid,
  email: nullable(Type.String()),
  balance_usd: Type.Number({ description: 'The remaining balance; negative if more was taken back than was left.' }),
  used_usd: Usd,
});

const KeyLine = Type.Object({
  ...line('key'),
  id: Uuid,
  key_prefix: Type.String(),
  label: Type.String(),
  last_used_at: nullable(DateTime),
  expires_at: nullable(DateTime),
  revoked_at: nullable(DateTime),
  created_at: DateTime,
});

const PanelLine = Type.Object({
  ...line('panel'),
  name: Type.String(),
  models: Type.Array(Type.String()),
  updated_at: DateTime,
});

const EndpointLine = Type.Object({
  ...line('webhook_endpoint'),
  id: Type.String(),
  url: Type.String(),
  description: Type.String(),
  event_types: Type.Array(Type.String()),
  disabled_at: nullable(DateTime),
  created_at: DateTime,
});

const FeedbackLine = Type.Object({
  ...line('feedback'),
  poll_id: Type.String({ description: 'The result that the feedback is about, which may be of another account.' }),
  outcome_correct: nullable(Type.Boolean()),
  confidence: nullable(Probability),
  notes: nullable(Type.String()),
  created_at: DateTime,
});

const PollExportLine = Type.Object({
  ...line('poll'),
  ...ListedPoll.properties,
  batch: Type.Optional(
    Type.Object(
      { batch_id: Type.String(), custom_id: Type.String(), gold: nullable(Type.String()) },
      { description: 'Present if the poll was a row of a batch.' },
    ),
  ),
  result: Type.Union([Type.Ref(PollResponse), Type.Null()], {
    description: 'The result with its votes; null if the poll is running or ended without a result.',
  }),
});

const TransferLine = Type.Object({
  ...line('transfer'),
  id: Type.String(),
  kind: literals(['credit', 'reversal', 'hold', 'post', 'void'], {
    description:
      '`credit`: paid in. `reversal`: taken back. `hold`: held for a poll; its `post` charges a part and releases the rest, its `void` releases all of it.',
  }),
  amount_usd: Usd,
  hold_id: Type.Optional(Type.String({ description: 'The `id` of the hold that a `post` or `void` belongs to.' })),
  session_id: Type.Optional(Type.String({ description: 'The poll of the transfer, even if the poll was deleted.' })),
  created_at: DateTime,
});

const CursorLine = Type.Object(
  { ...line('cursor'), cursor: Type.String() },
  { description: 'Everything before this line is complete. After a broken connection, continue with `?cursor=`.' },
);

const EndLine = Type.Object({ ...line('end') }, { description: 'The last line. An export without it is incomplete.' });

export const ExportLine = Type.Union(
  [AccountLine, KeyLine, PanelLine, EndpointLine, FeedbackLine, PollExportLine, TransferLine, CursorLine, EndLine],
  { $id: 'ExportLine' },
);
export type ExportLine = Static<typeof ExportLine>;

export const ExportQuery = Type.Object(
  {
    cursor: Type.Optional(
      Type.String({ maxLength: 200, description: 'The `cursor` of the last `cursor` line that you received.' }),
    ),
  },
  { additionalProperties: false },
);
export type ExportQuery = Static<typeof ExportQuery>;
