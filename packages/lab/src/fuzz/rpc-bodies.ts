import { type Static, Type } from '@sinclair/typebox';
import fc, { type Arbitrary } from 'fast-check';
import { goodValues, QUESTION_MARK } from './good-values.ts';
import { type Description, Schema } from './operations.ts';

// Requests for the two operations that use JSON-RPC. Their OpenAPI description says little about the body, so the
// messages are made here; arguments of tools come from the schemas that the service lists.

export const ListedTool = Type.Object({ name: Type.String(), inputSchema: Schema });
export type ListedTool = Readonly<Static<typeof ListedTool>>;

const id = fc.oneof(fc.integer(), fc.string({ maxLength: 8 }), fc.constantFrom<unknown>(null, undefined, 1.5, {}, []));

const envelope = (method: Arbitrary<unknown>, params: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.record(
    {
      jsonrpc: fc.oneof({ weight: 19, arbitrary: fc.constant('2.0') }, fc.constantFrom<unknown>('1.0', 2, null)),
      id,
      method,
      params,
    },
    { requiredKeys: ['jsonrpc', 'method'] },
  );

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'fuzz', version: '1' },
};
const METHODS = [
  'ping',
  'tools/list',
  'server/discover',
  'resources/list',
  'prompts/get',
  'notifications/initialized',
  'notifications/cancelled',
  'subscriptions/listen',
  'logging/setLevel',
  'completion/complete',
  'rpc.discover',
  '',
  '__proto__',
];

export function mcpBodies(tools: readonly ListedTool[], description: Description): Arbitrary<unknown> {
  const calls = tools.map(({ name, inputSchema }) =>
    envelope(
      fc.constant('tools/call'),
      fc.record(
        {
          name: fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, fc.constantFrom('other', '', 'toString')),
          arguments: goodValues(inputSchema, description),
          _meta: fc.constantFrom({ progressToken: 1 }, { progressToken: 'p' }, {}),
        },
        { requiredKeys: ['name'] },
      ),
    ),
  );
  const others = envelope(
    fc.constantFrom(...METHODS),
    fc.oneof(fc.constant({}), fc.constant({ requestId: 1, cursor: 'x' }), fc.jsonValue({ maxDepth: 2 })),
  );
  const initialize = envelope(
    fc.constant('initialize'),
    fc.constantFrom<unknown>(INITIALIZE, {}, { ...INITIALIZE, protocolVersion: 'x' }),
  );
  const one = fc.oneof(...calls, others, initialize);
  return fc.oneof({ weight: 9, arbitrary: one }, { weight: 1, arbitrary: fc.array(one, { maxLength: 12 }) });
}

export function a2aBodies(order: Arbitrary<unknown>): Arbitrary<unknown> {
  const part = fc.oneof(
    order.map((poll) => ({ text: JSON.stringify(poll) })),
    order.map((poll) => ({ type: 'text', text: JSON.stringify(poll) })),
    order.map((poll) => ({ kind: 'data', data: poll })),
    order.map((poll) => ({ data: poll })),
    fc.constantFrom({ text: `no JSON ${QUESTION_MARK}` }, { kind: 'file', file: { uri: 'file:///etc/passwd' } }, {}),
  );
  const message = fc.record(
    {
      role: fc.constantFrom('user', 'ROLE_USER', 'agent'),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      messageId: fc.string({ maxLength: 40 }),
      contextId: fc.constantFrom('c1', ''),
    },
    { requiredKeys: ['parts'] },
  );
  const bare = fc.record(
    { id: fc.string({ maxLength: 30 }), sessionId: fc.constant('s'), message },
    { requiredKeys: ['message'] },
  );
  const taskId = fc.constantFrom('{{session}}', '{{foreign-session}}', 'ps_aaaaaaaaaaaaaaaaaaaaaaaa', 'x');
  return fc.oneof(
    bare,
    envelope(
      fc.constantFrom('tasks/send', 'message/send', 'SendMessage', 'message/stream', 'SendStreamingMessage'),
      bare,
    ),
    envelope(
      fc.constantFrom('tasks/get', 'GetTask', 'tasks/cancel', 'CancelTask', 'tasks/resubscribe', 'SubscribeToTask'),
      fc.record({ id: taskId }),
    ),
    envelope(
      fc.constant('ListTasks'),
      fc.record(
        {
          contextId: fc.constantFrom('c1', '', '{{session}}'),
          status: fc.constantFrom('TASK_STATE_WORKING', 'TASK_STATE_REJECTED', 'x'),
          pageSize: fc.integer({ min: -1, max: 101 }),
          pageToken: fc.constantFrom('', 'MSBwc19hYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE', 'x'),
          includeArtifacts: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
  );
}
