import type { FastifyInstance } from 'fastify';
import { serveDocument } from '../../discovery/serve-document.ts';
import type { PollsContext } from '../../polls/context.ts';
import { agentCard } from '../a2a/agent-card.ts';
import { registryEntry, SERVER_CARD_TYPE, serverCard } from '../mcp/server-card.ts';
import { unifiedCard } from '../unified-card.ts';

/** The A2A agent card, the MCP server card and the unified card. */
export function agentCardRoutes(app: FastifyInstance, { config }: PollsContext): void {
  const { baseUrl } = config;
  const ofAgent = {
    tag: 'Agents',
    mediaType: 'application/json',
    body: () => JSON.stringify(agentCard(baseUrl)),
  } as const;
  serveDocument(app, {
    path: '/.well-known/agent-card.json',
    operationId: 'getAgentCard',
    summary: 'Get the agent card (A2A 0.1, 0.3 and 1.0)',
    ...ofAgent,
  });
  serveDocument(app, {
    path: '/.well-known/agent.json',
    operationId: 'getEarlyAgentCard',
    summary: 'Get the agent card (path for A2A before 0.3)',
    ...ofAgent,
  });
  serveDocument(app, {
    path: '/api/agent-card',
    operationId: 'getUnifiedAgentCard',
    tag: 'Agents',
    summary: 'Get the agent card with all protocols',
    mediaType: 'application/json',
    body: () => JSON.stringify(unifiedCard(config)),
  });

  const ofServer = { tag: 'Agents', body: () => JSON.stringify(serverCard(baseUrl)) } as const;
  serveDocument(app, {
    path: '/.well-known/mcp/server-card.json',
    operationId: 'getMcpServerCard',
    summary: 'Get the MCP server card',
    mediaType: 'application/json',
    ...ofServer,
  });
  serveDocument(app, {
    path: '/api/mcp/server-card',
    operationId: 'getMcpServerCardBesideServer',
    summary: 'Get the MCP server card (beside the server)',
    mediaType: SERVER_CARD_TYPE,
    ...ofServer,
  });
  serveDocument(app, {
    path: '/.well-known/mcp.json',
    operationId: 'getFileMcpJson',
    summary: 'Get the MCP server card (path for scanners)',
    mediaType: 'application/json',
    ...ofServer,
    tag: 'Files',
  });
  serveDocument(app, {
    path: '/server.json',
    operationId: 'getFileServerJson',
    tag: 'Files',
    summary: 'Get the entry for the MCP registry',
    mediaType: 'application/json',
    body: () => JSON.stringify(registryEntry(baseUrl), null, 2),
  });
}
