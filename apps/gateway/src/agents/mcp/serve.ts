import type { FastifyRequest } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import type { PollsContext } from '../../polls/context.ts';
import { isObject } from '../json-rpc.ts';
import { callTool } from './call-tool.ts';
import { TOOLS, toolNamed } from './tools.ts';

// One HTTP request, one server: it is made for the request, knows its caller alone, and is gone with it. There are no
// sessions, so that any replica answers any message; the library speaks revision 2026-07-28 and the older ones.

export const SERVER = { name: 'eloquentpoll', title: 'EloquentPoll', version: packageJson.version } as const;

export const INSTRUCTIONS =
  'Ask several AI models one multiple-choice question with poll_question before you rely on a single answer. A poll costs at most max_cost_usd; get_balance tells what is left, and get_poll_result reads a result again for nothing.';

const KEEP_ALIVE_MS = 15_000;
/** Tools are part of the release. */
const TOOLS_KEPT_MS = 300_000;

export async function serveMcp(context: PollsContext, request: FastifyRequest, gone: AbortSignal): Promise<Response> {
  const { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } = await library();

  const kept = { ttlMs: TOOLS_KEPT_MS, cacheScope: 'public' } as const;
  const makeServer = () => {
    const server = new Server(SERVER, {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': kept, 'server/discover': kept },
    });
    server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(({ definition }) => toListed(definition)) }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const tool = toolNamed(params.name);
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name');
      const token = mcpReq._meta?.progressToken;
      return callTool(tool, {
        context,
        request,
        input: params.arguments ?? {},
        gone: AbortSignal.any([gone, mcpReq.signal]),
        progress(step) {
          if (token === undefined) return;
          const params = { progressToken: token, ...step };
          // Who hung up meanwhile misses it.
          mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
        },
      });
    });
    return server;
  };

  const handler = createMcpHandler(makeServer, {
    legacy: 'stateless',
    responseMode: 'auto',
    keepAliveMs: KEEP_ALIVE_MS,
    onerror: (error) => request.log.debug({ err: error }, 'mcp message refused'),
  });
  const response = await handler.fetch(asWebRequest(request, gone), { parsedBody: request.body });
  // Nothing here changes while it runs: a subscription is acknowledged, and complete.
  if (isObject(request.body) && request.body.method === 'subscriptions/listen') await handler.close();
  return response;
}

/** Loaded when the first agent comes: most processes start for others. */
const library = () => import('@modelcontextprotocol/server');

type Definition = (typeof TOOLS)[number]['definition'];

/** The library's type wants `type: 'object'` said literally. */
const toListed = ({ name, description, inputSchema, outputSchema, annotations }: Definition) => ({
  name,
  description,
  inputSchema: { ...inputSchema, type: 'object' as const },
  outputSchema: { ...outputSchema, type: 'object' as const },
  annotations,
});

/** The body was parsed already and goes beside it; the address is ours, whatever Host says. */
function asWebRequest({ headers, method, url }: FastifyRequest, signal: AbortSignal): Request {
  const accept = takesAnything(headers.accept) ? 'application/json, text/event-stream' : headers.accept;
  const named = Object.entries({ ...headers, accept }).flatMap(([name, value]) =>
    value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(new URL(url, 'http://gateway'), { method, headers: named, signal });
}

/** Who names no type, or every type, takes both of ours, which the library wants to read literally. */
const takesAnything = (accept = '*/*'): boolean =>
  accept.split(',').some((range) => /^\s*\*\/\*/.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range));

const HOP_BY_HOP = new Set(['connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding']);
