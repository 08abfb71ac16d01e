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
  balance_usd: Type.Number({ description: 'What is left, negative where more was taken back than there was.' }),
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
  poll_id: Type.String({ description: 'Of the result; anyone may give feedback on any result.' }),
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
      { description: 'Where it came as a row of a batch.' },
    ),
  ),
  result: Type.Union([Type.Ref(PollResponse), Type.Null()], {
    description: 'With its votes; null where it still runs, or ended without one.',
  }),
});

const TransferLine = Type.Object({
  ...line('transfer'),
  id: Type.String(),
  kind: literals(['credit', 'reversal', 'hold', 'post', 'void'], {
    description:
      '`credit` and `reversal`: paid in, and taken back. `hold`: set aside for a poll; its `post` charges a part of it and frees the rest, its `void` frees all.',
  }),
  amount_usd: Usd,
  hold_id: Type.Optional(Type.String({ description: 'Of a `post` or `void`: the `id` of its hold.' })),
  session_id: Type.Optional(Type.String({ description: 'The poll that it is for, also where that was deleted.' })),
  created_at: DateTime,
});

const CursorLine = Type.Object(
  { ...line('cursor'), cursor: Type.String() },
  { description: 'Everything before this line is complete: after a broken connection go on with `?cursor=`.' },
);

const EndLine = Type.Object({ ...line('end') }, { description: 'The last line. An export without it was broken off.' });

export const ExportLine = Type.Union(
  [AccountLine, KeyLine, PanelLine, EndpointLine, FeedbackLine, PollExportLine, TransferLine, CursorLine, EndLine],
  { $id: 'ExportLine' },
);
export type ExportLine = Static<typeof ExportLine>;

export const ExportQuery = Type.Object(
  { cursor: Type.Optional(Type.String({ maxLength: 200, description: 'Of the last `cursor` line that arrived.' })) },
  { additionalProperties: false },
);
export type ExportQuery = Static<typeof ExportQuery>;
