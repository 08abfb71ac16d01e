import { NAMED_TASK, type Poll } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { access, accountOf, requireWriting } from '../../http/access.ts';
import { jsonAnswer, NEEDS_KEY, READS_BODY, textAnswer } from '../../http/answers.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { parseJsonBody } from '../../http/hooks/body-parsing.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../../polls/context.ts';
import { cancelTask } from '../a2a/cancel-task.ts';
import { findTask } from '../a2a/find-task.ts';
import { listTasks } from '../a2a/list-tasks.ts';
import type { A2aVersion, TaskAction } from '../a2a/methods.ts';
import { type A2aCall, readCall, refuseUnknownVersion, taskOperation } from '../a2a/read-call.ts';
import { sendRpcError } from '../a2a/send-rpc-error.ts';
import { sendTask } from '../a2a/send-task.ts';
import { streamTask, subscribeToTask } from '../a2a/stream-task.ts';
import { readTask } from '../a2a/task.ts';
import { toStreamedTask, toWireList, toWireTask } from '../a2a/to-wire.ts';
import { RpcMessage, rpcErrors } from '../json-rpc.ts';

/** POST /api/a2a/tasks/send: a poll as a task of the Agent2Agent protocol, versions 0.1, 0.3 and 1.0. */
export async function a2aRoute(app: FastifyInstance, { context }: { context: PollsContext }): Promise<void> {
  app.addContentTypeParser('application/a2a+json', { parseAs: 'buffer' }, parseJsonBody);
  const answerError = sendRpcError(context.config);
  app.post<{ Headers: { 'a2a-version'?: string } }>(
    '/api/a2a/tasks/send',
    {
      config: { operation: ({ body }) => taskOperation(body), readsOnly: true, idempotent: true },
      errorHandler: (error, request, reply) => void answerError(error, request, reply),
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'sendTask',
        tags: ['Agents'],
        summary: 'A2A endpoint',
        description:
          'Accepts `tasks/send`, `message/send` and `SendMessage`, or their parameters alone. `message/stream` and `SendStreamingMessage` answer with an event stream, which `tasks/resubscribe` and `SubscribeToTask` resume. `tasks/get` and `GetTask` read a task, `ListTasks` lists all. Continue until `nextPageToken` is empty: a page covers at most 700 tasks and may be short; `totalSize` covers the 1,000 tasks that changed last. `tasks/cancel` and `CancelTask` end a running task. One part of the message contains JSON with a question and options, or a text that ends with its options in brackets. The `id` of `tasks/send` is also an idempotency key.',
        security: access.bearer,
        body: { content: { 'application/json': { schema: BODY }, 'application/a2a+json': { schema: BODY } } },
        response: {
          200: {
            description: 'The task. For JSON-RPC, a response with the task, or a stream of such responses.',
            content: {
              ...jsonAnswer('', Type.Union([PLAIN_TASK, RpcMessage])).content,
              ...textAnswer('', 'text/event-stream').content,
            },
          },
          ...rpcErrors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'invalid_preset',
            'invalid_task_input',
            'insufficient_balance',
            'too_many_running',
            'provider_budget_reached',
            'polls_stopped',
            'session_not_found',
            'idempotency_key_reused',
            'poll_execution_failed',
          ),
        },
      },
    },
    async (request, reply) => {
      refuseUnknownVersion(request.headers['a2a-version']);
      const call = readCall(request.body);
      if (!READS.has(call.action)) requireWriting(request.principal);
      if (call.action === 'stream') return streamTask(context, request, reply, call);
      if (call.action === 'subscribe') return subscribeToTask(context, request, reply, call);
      const result = await answerTo(context, request, reply, call);
      return call.rpcId === undefined ? result : { jsonrpc: '2.0', id: call.rpcId, result };
    },
  );
}

async function answerTo(context: PollsContext, request: FastifyRequest, reply: FastifyReply, call: A2aCall) {
  const { config } = context;
  switch (call.action) {
    case 'send':
      return toStreamedTask(config, call.version, await sendTask(context, request, reply, call));
    case 'get': {
      const { poll, names } = await findTask(context, accountOf(request), call.params.id);
      return toWireTask(config, versionFor(call, poll), await readTask(context, poll, names));
    }
    case 'list':
      return toWireList(config, await listTasks(context, accountOf(request), call));
    default: {
      const stop = AbortSignal.any([goneSignal(reply), context.shutdown.closing]);
      const { poll, task } = await cancelTask(context, accountOf(request), call, stop);
      return toWireTask(config, versionFor(call, poll), task);
    }
  }
}

/** Versions 0.1 and 0.3 share `tasks/get` and `tasks/cancel`; only callers of version 0.1 choose their tasks' ids. */
const versionFor = ({ version }: A2aCall, { entryPoint }: Poll): A2aVersion =>
  version === '0.3' && entryPoint === NAMED_TASK ? '0.1' : version;

const READS: ReadonlySet<TaskAction> = new Set(['get', 'list', 'subscribe']);

const PART = Type.Object({}, { additionalProperties: true });

const PLAIN_TASK = Type.Object(
  { id: Type.String(), status: Type.Object({ state: Type.String() }, { additionalProperties: true }) },
  { additionalProperties: true },
);

const BODY = Type.Union([
  Type.Object({
    id: Type.Optional(Type.String()),
    sessionId: Type.Optional(Type.String()),
    message: Type.Object({ role: Type.Optional(Type.String()), parts: Type.Array(PART, { minItems: 1 }) }),
  }),
  RpcMessage,
]);
