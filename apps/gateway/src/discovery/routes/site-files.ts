import type { FastifyInstance } from 'fastify';
import { instructionFiles } from '../documents/agent-instructions.ts';
import { authGuide } from '../documents/auth-guide.ts';
import type { Facts } from '../documents/facts.ts';
import { securityTxt } from '../documents/security-txt.ts';
import { type ServedDocument, serveDocument } from '../serve-document.ts';

type SiteFile = Pick<ServedDocument, 'path' | 'summary' | 'mediaType' | 'body'> & { name: string };

/** Files that scanners and agents look for at fixed addresses. */
export function siteFileRoutes(app: FastifyInstance, facts: Facts): void {
  const { baseUrl, config } = facts;
  const files: readonly SiteFile[] = [
    {
      path: '/.well-known/security.txt',
      name: 'SecurityTxt',
      summary: 'Get the security contact (RFC 9116)',
      mediaType: 'text/plain',
      body: () => securityTxt(config),
    },
    {
      path: '/auth.md',
      name: 'AuthMd',
      summary: 'Get the guide to registration for agents',
      mediaType: 'text/markdown',
      body: () => authGuide(facts),
    },
    {
      path: '/AGENTS.md',
      name: 'AgentsMd',
      summary: 'Get the agent instructions',
      mediaType: 'text/markdown',
      body: () => instructionFiles(facts).get('AGENTS.md') ?? '',
    },
    {
      path: '/.well-known/ai-catalog.json',
      name: 'AiCatalog',
      summary: 'Get the catalogue of agents and servers',
      mediaType: 'application/json',
      body: () => JSON.stringify(aiCatalog(baseUrl)),
    },
  ];
  for (const { name, ...file } of files) serveDocument(app, { ...file, operationId: `getFile${name}`, tag: 'Files' });
}

/** The draft catalogue that leads to MCP server cards and A2A agent cards. */
function aiCatalog(baseUrl: string): object {
  const entry = (kind: string, type: string, path: string) => ({
    identifier: `urn:air:${new URL(baseUrl).hostname}:${kind}:eloquentpoll`,
    displayName: 'EloquentPoll',
    type,
    url: `${baseUrl}${path}`,
  });
  return {
    specVersion: '1.0',
    entries: [
      entry('mcp', 'application/mcp-server-card+json', '/api/mcp/server-card'),
      entry('a2a', 'application/a2a-agent-card+json', '/.well-known/agent-card.json'),
    ],
  };
}
