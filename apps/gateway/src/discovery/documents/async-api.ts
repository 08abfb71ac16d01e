import { SessionRequest, StreamComplete, StreamError, StreamStarted } from '@eloquentpoll/contracts';
import packageJson from '../../../package.json' with { type: 'json' };
import { inlined } from './inlined.ts';

// The stream of votes in AsyncAPI 3.0. That version has no binding for Server-Sent Events, so the document says in
// words how an event is written, and binds the operations to HTTP.

const EVENTS = [
  {
    name: 'started',
    summary: 'The poll runs; this is all that is known of it. One more with every vote.',
    shape: StreamStarted,
  },
  { name: 'complete', summary: 'The poll ended, and this is its result. The last event.', shape: StreamComplete },
  { name: 'error', summary: 'The poll ended without an outcome. The last event.', shape: StreamError },
];

const EVENT_TYPE = 'application/json';
const DESCRIPTION =
  "Server-Sent Events in answer to one POST. Each message is one event: its name is the event's `event`, its payload the JSON in `data`; its `id` ends in its number, that of the last event in `end`. Lines that begin with a colon keep the connection open and mean nothing. `started` repeats as a whole snapshot with every vote; exactly one `complete` or `error` ends the stream. The poll goes on when the caller hangs up. Errors before the first event are ordinary HTTP errors.";

export function asyncApi(baseUrl: string): Record<string, unknown> {
  const { protocol, host } = new URL(baseUrl);
  return {
    asyncapi: '3.0.0',
    id: `${baseUrl}/asyncapi.json`,
    info: {
      title: 'EloquentPoll: streamed polls',
      version: packageJson.version,
      description: DESCRIPTION,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      externalDocs: { url: `${baseUrl}/api/docs` },
    },
    defaultContentType: EVENT_TYPE,
    servers: {
      here: { host, protocol: protocol.slice(0, -1), security: [{ $ref: '#/components/securitySchemes/apiKey' }] },
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
        summary: 'Snapshots while it runs, then its end.',
        messages: EVENTS.map(({ name }) => ({ $ref: `#/channels/stream/messages/${name}` })),
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'ep_k_...' } },
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
      },
    },
  };
}
