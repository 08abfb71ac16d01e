import { type Static, Type } from '@sinclair/typebox';
import { LIMIT_RESETS } from './account.ts';
import { BatchCounts, WHY_ROWS_WERE_NOT_RUN } from './batch-counts.ts';
import { LIMITS } from './limits.ts';
import { Metadata } from './metadata.ts';
import { PANEL_NAMES } from './poll.ts';
import { Count, DateTime, literals, Milliseconds, nullable, Usd } from './vocabulary.ts';

// Webhooks by Standard Webhooks 1.0: endpoints of an account, what is sent to them, and the log of it.

/** What an endpoint can ask for. */
export const WEBHOOK_EVENT_TYPES = [
  'poll.completed',
  'poll.failed',
  'batch.completed',
  'balance.low',
  'key.limit_reached',
  'endpoint.disabled',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The endpoint that stands for every `webhook_url` of the account, in the place of an id. */
export const ACCOUNT_ENDPOINT = 'account';

const Url = Type.String({
  maxLength: LIMITS.webhooks.url,
  description:
    'An https address on port 443 or 8443, without user or password, that resolves to public addresses only.',
});

/** Of a poll or a batch. */
export const WebhookUrl = Type.String({
  maxLength: LIMITS.webhooks.url,
  description:
    'An https address on port 443 or 8443 that is notified of the end. The message is signed with the secret of GET /api/webhook-endpoints/account/secret.',
});

const eventTypes = Type.Array(literals(WEBHOOK_EVENT_TYPES), { minItems: 1, uniqueItems: true });
const description = Type.String({ maxLength: LIMITS.webhooks.description, description: 'A note for yourself.' });

export const WebhookEndpointRequest = Type.Object(
  {
    url: Url,
    event_types: Type.Optional({ ...eventTypes, description: 'Default: all event types.' }),
    description: Type.Optional(description),
  },
  { $id: 'WebhookEndpointRequest' },
);
export type WebhookEndpointRequest = Static<typeof WebhookEndpointRequest>;

export const WebhookEndpointChange = Type.Object(
  {
    url: Type.Optional(Url),
    event_types: Type.Optional(eventTypes),
    description: Type.Optional(description),
    status: Type.Optional(
      literals(['enabled', 'disabled'], {
        description: '`disabled` drops waiting deliveries; `enabled` sends new events again.',
      }),
    ),
  },
  { $id: 'WebhookEndpointChange', minProperties: 1 },
);
export type WebhookEndpointChange = Static<typeof WebhookEndpointChange>;

export const WebhookEndpoint = Type.Object(
  {
    endpoint_id: Type.String(),
    url: nullable(Type.String({ description: 'Null for the endpoint that represents every `webhook_url`.' })),
    event_types: Type.Array(literals(WEBHOOK_EVENT_TYPES), {
      uniqueItems: true,
      description: 'Empty for the endpoint that represents every `webhook_url`.',
    }),
    description: Type.String(),
    status: literals(['enabled', 'disabled']),
    disabled_reason: nullable(
      literals(['owner', 'gone', 'failing'], {
        description:
          '`owner`: you disabled it; `gone`: it answered 410; `failing`: all deliveries failed for three days.',
      }),
    ),
    disabled_at: nullable(DateTime),
    failing_since: nullable({ ...DateTime, description: 'All attempts since then have failed.' }),
    pending: Type.Integer({ minimum: 0, description: 'Deliveries that wait for their next attempt.' }),
    skipped: Type.Integer({
      minimum: 0,
      description: `Events that were not sent because ${LIMITS.webhooks.pending} deliveries were already waiting.`,
    }),
    previous_secret_until: nullable({
      ...DateTime,
      description: 'Until then, messages are also signed with the previous secret.',
    }),
    created_at: DateTime,
  },
  { $id: 'WebhookEndpoint' },
);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointList = Type.Object(
  { endpoints: Type.Array(Type.Ref(WebhookEndpoint), { maxItems: LIMITS.webhooks.endpoints }) },
  { $id: 'WebhookEndpointList' },
);
export type WebhookEndpointList = Static<typeof WebhookEndpointList>;

const secret = Type.String({ pattern: '^whsec_[A-Za-z0-9+/]+=*$', description: 'Verifies `webhook-signature`.' });

export const WebhookSecret = Type.Object(
  { endpoint_id: Type.String(), secret, previous_secret_until: WebhookEndpoint.properties.previous_secret_until },
  { $id: 'WebhookSecret' },
);
export type WebhookSecret = Static<typeof WebhookSecret>;

export const NewWebhookEndpoint = Type.Object({ ...WebhookEndpoint.properties, secret }, { $id: 'NewWebhookEndpoint' });
export type NewWebhookEndpoint = Static<typeof NewWebhookEndpoint>;

export const SecretRotation = Type.Object(
  {
    overlap_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.webhooks.overlap_s.max,
        default: LIMITS.webhooks.overlap_s.default,
        description: 'How long messages carry the signatures of both secrets.',
      }),
    ),
  },
  { $id: 'SecretRotation' },
);
export type SecretRotation = Static<typeof SecretRotation>;

export const WebhookEndpointRemoval = Type.Object({ removed: Type.Boolean() }, { $id: 'WebhookEndpointRemoval' });
export type WebhookEndpointRemoval = Static<typeof WebhookEndpointRemoval>;

export const WEBHOOK_ERRORS = [
  'name_not_resolved',
  'address_refused',
  'connection_failed',
  'tls_failed',
  'timed_out',
  'bad_answer',
] as const;
export type WebhookError = (typeof WEBHOOK_ERRORS)[number];

export const WebhookAttempt = Type.Object({
  at: DateTime,
  http_status: nullable(
    Type.Integer({ description: 'Status of the response, if there was one; 2xx means delivered.' }),
  ),
  error: nullable(literals(WEBHOOK_ERRORS, { description: 'Why there was no response.' })),
  took_ms: Milliseconds,
});
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

export const WebhookDelivery = Type.Object(
  {
    delivery_id: Type.String(),
    event_id: Type.String({ description: 'The `webhook-id` of its messages, the same in every attempt.' }),
    type: Type.String(),
    url: Type.String(),
    status: literals(DELIVERY_STATUSES),
    attempts: Count,
    last_attempts: Type.Array(WebhookAttempt, { description: 'The last attempts, at most 12, newest last.' }),
    next_attempt_at: nullable(DateTime),
    created_at: DateTime,
    ended_at: nullable(DateTime),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'The `data` of the message.' }),
  },
  { $id: 'WebhookDelivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryList = Type.Object(
  {
    deliveries: Type.Array(Type.Ref(WebhookDelivery), {
      maxItems: LIMITS.webhooks.deliveries.max,
      description: 'Newest first.',
    }),
    after: nullable(
      Type.String({
        description:
          'Send it as `after` to get the next page; null if there is none. With `status`, it can be set although the page is short or empty.',
      }),
    ),
  },
  { $id: 'WebhookDeliveryList' },
);
export type WebhookDeliveryList = Static<typeof WebhookDeliveryList>;

export const WebhookDeliveryQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.webhooks.deliveries.max,
        default: LIMITS.webhooks.deliveries.default,
      }),
    ),
    after: Type.Optional(Type.String({ description: 'A `delivery_id`; the response lists older deliveries.' })),
    status: Type.Optional(literals(DELIVERY_STATUSES)),
  },
  { additionalProperties: false },
);
export type WebhookDeliveryQuery = Static<typeof WebhookDeliveryQuery>;

export const EndpointParams = Type.Object({
  endpointId: Type.String({
    description: `An \`endpoint_id\`, or \`${ACCOUNT_ENDPOINT}\` for the endpoint that represents every \`webhook_url\`.`,
  }),
});
export type EndpointParams = Static<typeof EndpointParams>;
export const DeliveryParams = Type.Object({ ...EndpointParams.properties, deliveryId: Type.String() });
export type DeliveryParams = Static<typeof DeliveryParams>;

const link = (what: string) => Type.String({ format: 'uri', description: what });
const pollEvent = {
  session_id: Type.String(),
  batch_id: nullable(Type.String({ description: 'The batch of the poll, if the row has its own `webhook_url`.' })),
  poll_id: nullable(Type.String({ description: 'The id of the result; null if there is none.' })),
  preset: literals(PANEL_NAMES),
  canceled: Type.Boolean(),
  cost_usd: Usd,
  metadata: Metadata,
  created_at: DateTime,
  ended_at: DateTime,
  status_url: link('Needs the key or login of the account.'),
  result_url: link('The same.'),
};

/** The `data` of each type of event. Never a question, an option or an answer. */
export const WEBHOOK_DATA = {
  'poll.completed': Type.Object(
    { ...pollEvent, status: literals(['success', 'partial']) },
    { $id: 'PollCompletedEvent' },
  ),
  'poll.failed': Type.Object({ ...pollEvent, status: literals(['failed']) }, { $id: 'PollFailedEvent' }),
  'batch.completed': Type.Object(
    {
      batch_id: Type.String(),
      status: literals(['completed', 'canceled', 'expired']),
      counts: Type.Omit(BatchCounts, ['waiting', 'running']),
      not_run_reason: WHY_ROWS_WERE_NOT_RUN,
      cost_usd: Usd,
      metadata: Metadata,
      created_at: DateTime,
      ended_at: DateTime,
      status_url: link('Needs the key or login of the account.'),
      results_url: link('The same.'),
    },
    { $id: 'BatchCompletedEvent' },
  ),
  'balance.low': Type.Object(
    {
      balance_usd: Type.Number({ description: 'The balance, including holds of running polls.' }),
      low_balance_usd: Usd,
      funds_url: link('The page on which to add funds.'),
    },
    { $id: 'BalanceLowEvent' },
  ),
  'key.limit_reached': Type.Object(
    {
      key_id: Type.String(),
      label: Type.String(),
      limit_usd: Usd,
      limit_reset: literals(LIMIT_RESETS),
      spent_usd: Usd,
      held_usd: { ...Usd, description: 'Held for running polls and open batches.' },
      resets_at: nullable(DateTime),
      keys_url: link('The page on which to raise the limit.'),
    },
    { $id: 'KeyLimitReachedEvent' },
  ),
  'endpoint.disabled': Type.Object(
    {
      endpoint_id: Type.String(),
      url: Type.String(),
      reason: literals(['owner', 'gone', 'failing']),
      endpoint_url: link('Its log.'),
    },
    { $id: 'EndpointDisabledEvent' },
  ),
} as const satisfies Record<WebhookEventType, unknown>;
