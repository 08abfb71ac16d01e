import {
  SessionRequest,
  StreamComplete,
  StreamError,
  StreamStarted,
  WEBHOOK_EVENT_TYPES,
} from '@eloquentpoll/contracts';
import packageJson from '../../../package.json' with { type: 'json' };
import { WEBHOOK_HEADERS, WEBHOOK_RULES, WEBHOOK_SUMMARIES, webhookMessage } from '../description/webhooks.ts';
import { inlined } from './inlined.ts';

// The vote stream and webhooks in AsyncAPI 3.0. That version has no binding for Server-Sent Events, so the document
// explains their format in words and binds the operations to HTTP.

const EVENTS = [
  {
    name: 'started',
    summary: 'The poll is running. The payload is its complete state; the event is sent again with every vote.',
    shape: StreamStarted,
  },
  {
    name: 'complete',
    summary: 'The poll ended; the payload is its result. This is the last event.',
    shape: StreamComplete,
  },
  { name: 'error', summary: 'The poll ended without an outcome. This is the last event.', shape: StreamError },
];

const EVENT_TYPE = 'application/json';
const DESCRIPTION =
  "Server-Sent Events in response to one POST. Each message is one event: its name is the event's `event`, its payload the JSON in `data`. Its `id` ends in the number of the event; the id of the last event ends in `end`. Lines that start with a colon only keep the connection open. `started` is sent again with every vote, as a complete snapshot; exactly one `complete` or `error` ends the stream. The poll continues if the caller disconnects. Errors before the first event are ordinary HTTP errors.";

export function asyncApi(baseUrl: string): Record<string, unknown> {
  const { protocol, host } = new URL(baseUrl);
  return {
    asyncapi: '3.0.0',
    id: `${baseUrl}/asyncapi.json`,
    info: {
      title: 'EloquentPoll: streamed polls and webhooks',
      version: packageJson.version,
      description: 'Polls as event streams, and the webhooks that are sent to endpoints of callers.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      externalDocs: { url: `${baseUrl}/api/docs` },
    },
    defaultContentType: EVENT_TYPE,
    servers: {
      here: { host, protocol: protocol.slice(0, -1), security: [{ $ref: '#/components/securitySchemes/apiKey' }] },
      receiver: {
        host: '{receiver}',
        security: [{ $ref: '#/components/securitySchemes/signature' }],
        protocol: 'https',
        description: 'An endpoint that a caller registered, or a `webhook_url`.',
        variables: { receiver: { description: 'The host of the endpoint, on port 443 or 8443.' } },
      },
    },
    channels: {
      stream: {
        address: '/api/poll/stream',
        title: 'One poll',
        description: DESCRIPTION,
        servers: [{ $ref: '#/servers/here' }],
        messages: Object.fromEntries(
          ['order', ...EVENTS.map(({ name }) => name)].map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
      webhooks: {
        title: 'Webhooks',
        description: WEBHOOK_RULES,
        servers: [{ $ref: '#/servers/receiver' }],
        messages: Object.fromEntries(
          WEBHOOK_EVENT_TYPES.map((type) => [type, { $ref: `#/components/messages/${type}` }]),
        ),
      },
    },
    operations: {
      orderPoll: {
        action: 'receive',
        channel: { $ref: '#/channels/stream' },
        title: 'Start a poll',
        summary: 'A caller posts a question with options and reads the answer as a stream.',
        messages: [{ $ref: '#/channels/stream/messages/order' }],
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
      publishProgress: {
        action: 'send',
        channel: { $ref: '#/channels/stream' },
        title: 'Publish the progress of a poll',
        summary: 'Snapshots while the poll runs, then its end.',
        messages: EVENTS.map(({ name }) => ({ $ref: `#/channels/stream/messages/${name}` })),
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
      sendWebhook: {
        action: 'send',
        channel: { $ref: '#/channels/webhooks' },
        title: 'Send a webhook',
        summary: 'What happened to a poll, a batch, the balance, a key or an endpoint of the account.',
        messages: WEBHOOK_EVENT_TYPES.map((type) => ({ $ref: `#/channels/webhooks/messages/${type}` })),
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'ep_k_...' },
        signature: { type: 'httpApiKey', in: 'header', name: 'webhook-signature' },
      },
      messages: {
        order: {
          name: 'order',
          title: 'The poll',
          contentType: EVENT_TYPE,
          payload: inlined(SessionRequest),
        },
        ...Object.fromEntries(
          EVENTS.map(({ name, summary, shape }) => [
            name,
            { name, title: name, summary, contentType: EVENT_TYPE, payload: inlined(shape) },
          ]),
        ),
        ...Object.fromEntries(
          WEBHOOK_EVENT_TYPES.map((type) => [
            type,
            {
              name: type,
              title: type,
              summary: WEBHOOK_SUMMARIES[type],
              contentType: EVENT_TYPE,
              headers: {
                type: 'object',
                required: Object.keys(WEBHOOK_HEADERS),
                properties: Object.fromEntries(
                  Object.entries(WEBHOOK_HEADERS).map(([name, description]) => [name, { type: 'string', description }]),
                ),
              },
              payload: webhookMessage(type),
            },
          ]),
        ),
      },
    },
  };
}
