import { isJsonObject } from '@eloquentpoll/contracts';
import type { FastifyRequest } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { accountOf, type Principal, requireWriting } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { cancelRun } from '../../polls/run/cancel-run.ts';
import { withoutNull } from '../without-null.ts';
import { callTool } from './call-tool.ts';
import { findTaskPoll, readPollTask, startTask, TASKS_EXTENSION } from './poll-tasks.ts';
import { PROMPTS, promptText } from './prompts.ts';
import { listResultResources, RESULT_TEMPLATE, readResultResource } from './resources.ts';
import type { ToolCall } from './tool.ts';
import { TOOLS, toolNamed } from './tools.ts';

// Creates one MCP server per HTTP request, without MCP sessions, so that any gateway can answer any message.

export const SERVER_INFO = { name: 'eloquentpoll', title: 'EloquentPoll', version: packageJson.version } as const;

export const DECLARED = { tools: {}, resources: {}, prompts: {}, extensions: { [TASKS_EXTENSION]: {} } };

export const INSTRUCTIONS =
  'Ask several AI models one multiple-choice question with poll_question before you rely on a single answer. A poll costs at most max_cost_usd; get_balance returns the balance. get_poll_result and the resource poll://{poll_id} read a result again at no cost.';

const KEEP_ALIVE_MS = 15_000;
/** Tools change only with a release. */
const TOOLS_TTL_MS = 300_000;

export async function serveMcp(context: PollsContext, request: FastifyRequest, gone: AbortSignal): Promise<Response> {
  const {
    createMcpHandler,
    MissingRequiredClientCapabilityError,
    ProtocolError,
    ProtocolErrorCode,
    ResourceNotFoundError,
    Server,
  } = await library();

  const cacheHint = { ttlMs: TOOLS_TTL_MS, cacheScope: 'public' } as const;
  const notKept = { ttlMs: 0, cacheScope: 'private' } as const;
  const makeServer = () => {
    const server = new Server(SERVER_INFO, {
      capabilities: DECLARED,
      instructions: INSTRUCTIONS,
      cacheHints: {
        'tools/list': cacheHint,
        'prompts/list': cacheHint,
        'resources/templates/list': cacheHint,
        'resources/list': notKept,
        // A result can be deleted.
        'resources/read': notKept,
        'server/discover': cacheHint,
      },
    });
    server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(({ definition }) => toListed(definition)) }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const tool = toolNamed(params.name);
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool with this name');
      const token = mcpReq._meta?.progressToken;
      const call: ToolCall = {
        context,
        request,
        input: withoutNull(params.arguments ?? {}),
        gone: AbortSignal.any([gone, mcpReq.signal]),
        // Since revision 2026-07-28, whose requests have an envelope; clients of older ones may resume or ask again.
        cancelsWhenGone: mcpReq.envelope !== undefined,
        progress(step) {
          if (token === undefined) return;
          const params = { progressToken: token, ...step };
          // Fails if the client has disconnected.
          mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
        },
      };
      return tool.start && takesTasks(mcpReq.envelope) ? startTask(tool.start, tool, call, gone) : callTool(tool, call);
    });
    const taskOf = async (envelope: object | undefined, id: string) => {
      if (!takesTasks(envelope)) {
        const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
      }
      const poll = await findTaskPoll(context, request, id);
      if (!poll) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Your account has no task with this id');
      return poll;
    };
    server.setRequestHandler('tasks/get', TASK_PARAMS, async ({ taskId }, { mcpReq }) =>
      readPollTask(context, request, await taskOf(mcpReq.envelope, taskId)),
    );
    server.setRequestHandler('tasks/cancel', TASK_PARAMS, async ({ taskId }, { mcpReq }) => {
      const { id } = await taskOf(mcpReq.envelope, taskId);
      requireCanceling(request.principal);
      // Does not wait, because the extension requires an answer at once; `tasks/get` shows the end.
      await cancelRun(context, accountOf(request), id, AbortSignal.abort());
      return {};
    });
    // Acknowledged without effect, because a poll never asks its caller for input.
    server.setRequestHandler('tasks/update', TASK_PARAMS, async ({ taskId }, { mcpReq }) => {
      await taskOf(mcpReq.envelope, taskId);
      return {};
    });
    server.setRequestHandler('resources/list', async () => ({
      resources: await listResultResources(context, accountOf(request)),
    }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [RESULT_TEMPLATE] }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      const contents = await readResultResource(context, uri);
      if (!contents) throw new ResourceNotFoundError(uri);
      return { contents };
    });
    server.setRequestHandler('prompts/list', () => ({
      prompts: PROMPTS.map(({ name, title, description, arguments: takes }) => ({
        name,
        title,
        description,
        arguments: [...takes],
      })),
    }));
    server.setRequestHandler('prompts/get', ({ params }) => {
      const prompt = PROMPTS.find(({ name }) => name === params.name);
      if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no prompt with this name');
      const made = promptText(prompt, params.arguments ?? {});
      if ('wrong' in made) throw new ProtocolError(ProtocolErrorCode.InvalidParams, made.wrong);
      return {
        description: prompt.description,
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: made.text } }],
      };
    });
    return server;
  };

  const handler = createMcpHandler(makeServer, {
    legacy: 'stateless',
    responseMode: 'auto',
    keepAliveMs: KEEP_ALIVE_MS,
    onerror: (error) => request.log.debug({ err: error }, 'mcp.message_refused'),
  });
  const response = await handler.fetch(asWebRequest(request, gone), { parsedBody: request.body });
  // Nothing that could be subscribed to changes while the process runs, so the subscription's stream is closed at once.
  if (isJsonObject(request.body) && request.body.method === 'subscriptions/listen') await handler.close();
  return response;
}

/** As in REST: callers with a user id or a read-only key may only read. */
function requireCanceling(principal: Principal | null): void {
  if (principal?.via === 'user_id') throw new ApiError('authentication_required', { detail: NEEDS_A_KEY });
  requireWriting(principal);
}

const NEEDS_A_KEY = 'tasks/cancel needs an API key; a user id can only read.';

/** Declared in each request, not per session. */
function takesTasks(envelope: object | undefined): boolean {
  const capabilities = isJsonObject(envelope) ? envelope['io.modelcontextprotocol/clientCapabilities'] : undefined;
  const extensions = isJsonObject(capabilities) ? capabilities.extensions : undefined;
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

interface TaskParams {
  taskId: string;
}

/** A validator in the standard form that the library accepts; `types` exists only for the compiler. */
const TASK_PARAMS = {
  params: {
    '~standard': {
      version: 1 as const,
      vendor: 'eloquentpoll',
      types: undefined as { input: unknown; output: TaskParams } | undefined,
      validate: (params: unknown): { value: TaskParams } | { issues: { message: string }[] } =>
        isJsonObject(params) && typeof params.taskId === 'string'
          ? { value: { taskId: params.taskId } }
          : { issues: [{ message: 'taskId must be a string' }] },
    },
  },
};

/** Loaded at the first MCP request, to keep startup short. */
const library = () => import('@modelcontextprotocol/server');

type Definition = (typeof TOOLS)[number]['definition'];

/** The library's type requires the literal `type: 'object'`. */
const toListed = ({ name, description, inputSchema, outputSchema, annotations }: Definition) => ({
  name,
  description,
  inputSchema: { ...inputSchema, type: 'object' as const },
  outputSchema: { ...outputSchema, type: 'object' as const },
  annotations,
});

/** Without the body, which is already parsed. The address is fixed and not taken from Host. */
function asWebRequest({ headers, method, url }: FastifyRequest, signal: AbortSignal): Request {
  const accept = acceptsAnything(headers.accept) ? 'application/json, text/event-stream' : headers.accept;
  const named = Object.entries({ ...headers, accept }).flatMap(([name, value]) =>
    value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(new URL(url, 'http://gateway'), { method, headers: named, signal });
}

/** The library requires both media types by name, but a client without Accept, or with a wildcard, accepts them too. */
export const acceptsAnything = (accept = '*/*'): boolean =>
  accept.split(',').some((range) => /^\s*\*\/\*/.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range));

const HOP_BY_HOP = new Set(['connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding']);
