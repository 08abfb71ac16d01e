import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { parseJsonBody } from '../../http/hooks/body-parsing.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../../polls/context.ts';
import { getTask } from '../a2a/get-task.ts';
import { type A2aVersion, isTaskRead, readCall, refuseUnknownVersion } from '../a2a/read-call.ts';
import { sendRpcError } from '../a2a/send-rpc-error.ts';
import { sendTask } from '../a2a/send-task.ts';
import type { Task } from '../a2a/task.ts';
import { toWireTask } from '../a2a/to-wire.ts';
import { RpcMessage, rpcErrors } from '../json-rpc.ts';

/** POST /api/a2a/tasks/send: a poll as a task of the Agent2Agent protocol, versions 0.1, 0.3 and 1.0. */
export async function a2aRoute(app: FastifyInstance, { context }: { context: PollsContext }): Promise<void> {
  app.addContentTypeParser('application/a2a+json', { parseAs: 'buffer' }, parseJsonBody);
  const answerError = sendRpcError(context.config);
  app.post<{ Headers: { 'a2a-version'?: string } }>(
    '/api/a2a/tasks/send',
    {
      config: { operation: ({ body }) => (isTaskRead(body) ? 'account' : 'poll'), idempotent: true },
      errorHandler: (error, request, reply) => void answerError(error, request, reply),
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'sendTask',
        tags: ['Agents'],
        summary: 'A2A endpoint',
        description:
          'Takes `tasks/send`, `message/send` and `SendMessage`, or the parameters alone; `tasks/get` and `GetTask` read a task again. One part of the message holds JSON with a question and options. The `id` of `tasks/send` is an idempotency key too.',
        security: access.bearer,
        body: { content: { 'application/json': { schema: BODY }, 'application/a2a+json': { schema: BODY } } },
        response: {
          200: jsonAnswer('The task; to JSON-RPC, a response that holds it.', Type.Union([PLAIN_TASK, RpcMessage])),
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
      const { version, action, rpcId } = call;
      const task =
        action === 'get'
          ? await getTask(context, accountOf(request), call)
          : await sendTask(context, request, reply, call);
      const wire = toWireTask(context.config, answerVersion(version, task), task);
      if (rpcId === undefined) return wire;
      return { jsonrpc: '2.0', id: rpcId, result: version === '1.0' && action === 'send' ? { task: wire } : wire };
    },
  );
}

/** Versions 0.1 and 0.3 share `tasks/get`; only tasks of version 0.1 can lack a contextId. */
const answerVersion = (version: A2aVersion, { contextId }: Task): A2aVersion =>
  version === '0.3' && contextId === null ? '0.1' : version;

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
