import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { announceUserId } from '../../accounts/keys/user-id-bearer.ts';
import { access } from '../../http/access.ts';
import { jsonAnswer, NEEDS_KEY, READS_BODY, textAnswer } from '../../http/answers.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../../polls/context.ts';
import { RpcMessage, rpcErrors } from '../json-rpc.ts';
import { originCheck, refuseForeignOrigins } from '../mcp/own-origin.ts';
import { sendRefusal } from '../mcp/send-refusal.ts';
import { sendResponse } from '../mcp/send-response.ts';
import { serveMcp } from '../mcp/serve.ts';
import { MAX_BATCH_MESSAGES, serveBatch } from '../mcp/serve-batch.ts';
import { operationOf } from '../mcp/tools.ts';
import { unknownRevision } from '../mcp/unknown-revision.ts';
import { wrongParams } from '../mcp/wrong-params.ts';

/** POST /api/mcp: the service's tools in the Model Context Protocol. */
export async function mcpRoute(app: FastifyInstance, { context }: { context: PollsContext }): Promise<void> {
  // Registered first, so that it runs before authentication.
  const allowsOrigin = originCheck(context.config);
  app.addHook('onRequest', refuseForeignOrigins(allowsOrigin));
  const answerError = sendRefusal(context.config);
  app.post(
    '/api/mcp',
    {
      config: {
        ...{ operation: operationOf, allowsOrigin, takesUserId: true, readsOnly: true, idempotent: true },
        resource: { path: '/api/mcp', scopes: ['polls:run', 'results:read'] },
      },
      errorHandler: (error, request, reply) => void answerError(error, request, reply),
      preHandler: announceUserId,
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'speakMcp',
        tags: ['Agents'],
        summary: 'MCP endpoint',
        description: `Streamable HTTP without sessions, revision 2026-07-28 and older ones. One message per request; in revision 2025-03-26 also an array of at most ${MAX_BATCH_MESSAGES}, which are counted and answered one by one in an event stream. If a tool fails, its result has \`isError\`, and the text contains the error code and recovery actions.`,
        security: access.bearer,
        body: RpcMessage,
        response: {
          200: {
            ...jsonAnswer('One JSON-RPC response, or a stream of progress that ends with it.', RpcMessage),
            ...EITHER,
          },
          202: { description: 'A notification was accepted, or a batch that contains nothing else.', type: 'null' },
          ...rpcErrors(...READS_BODY, ...NEEDS_KEY, 'forbidden_origin', 'not_found', 'not_acceptable'),
        },
      },
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const unknown = unknownRevision(request.headers['mcp-protocol-version'], request.body);
      if (unknown) return reply.code(400).type('application/json').send(JSON.stringify(unknown));
      const gone = goneSignal(reply);
      if (Array.isArray(request.body)) return serveBatch(context, request, reply, gone);
      const response = await serveMcp(context, request, gone);
      // The client has disconnected.
      if (gone.aborted) return reply.hijack();
      // Only for messages that the library accepted: it refuses headers and methods with other statuses.
      const wrong = response.ok ? wrongParams(request.body) : null;
      if (wrong === null) return sendResponse(reply, response);
      await response.body?.cancel();
      return wrong;
    },
  );
}

const EITHER = { content: { ...jsonAnswer('', RpcMessage).content, ...textAnswer('', 'text/event-stream').content } };
