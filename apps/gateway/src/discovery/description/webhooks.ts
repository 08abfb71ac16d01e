import { WEBHOOK_DATA, WEBHOOK_EVENT_TYPES, type WebhookEventType } from '@eloquentpoll/contracts';
import { inlined } from '../documents/inlined.ts';

// Messages to callers' endpoints, as the `webhooks` of the OpenAPI document. The AsyncAPI document uses the same parts.

export const WEBHOOK_SUMMARIES: Record<WebhookEventType, string> = {
  'poll.completed': 'A poll has a result',
  'poll.failed': 'A poll failed or was canceled',
  'batch.completed': 'A batch ended',
  'balance.low': 'The balance fell below its threshold',
  'key.limit_reached': 'A key reached its spending limit',
  'endpoint.disabled': 'Another endpoint of the account was disabled',
};

export const WEBHOOK_HEADERS = {
  'webhook-id': 'The id of the event. It is the same in every attempt, so that repeats can be recognised.',
  'webhook-timestamp': 'The time of the attempt, in seconds since 1970.',
  'webhook-signature':
    '`v1,` followed by the HMAC-SHA256 of id, timestamp and body in base64. While a secret is being replaced, there are two, separated by a space.',
};

export const WEBHOOK_RULES =
  'As in Standard Webhooks 1.0. Sent at least once, in any order, and retried for up to three days until the response is 2xx. 410 disables the endpoint; redirects are not followed.';

export const webhookMessage = (type: WebhookEventType): object => ({
  type: 'object',
  required: ['type', 'timestamp', 'data'],
  properties: {
    type: { type: 'string', const: type },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
    data: inlined(WEBHOOK_DATA[type]),
  },
});

export const describedWebhooks = (): Record<string, object> =>
  Object.fromEntries(WEBHOOK_EVENT_TYPES.map((type) => [type, { post: described(type) }]));

function described(type: WebhookEventType): object {
  return {
    operationId: `receive${type.replace(/(^|[._])(\w)/g, (_, _before, letter: string) => letter.toUpperCase())}`,
    tags: ['Webhooks'],
    security: [], // Messages are authenticated by their signature, a header below.
    summary: WEBHOOK_SUMMARIES[type],
    description: WEBHOOK_RULES,
    parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: webhookMessage(type),
        },
      },
    },
    responses: { '2XX': { description: 'It was received.' }, 410: { description: 'Send nothing more.' } },
  };
}
