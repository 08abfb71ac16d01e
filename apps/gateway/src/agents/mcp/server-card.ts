import { REVISIONS } from './revisions.ts';
import { DECLARED, SERVER_INFO } from './serve.ts';
import { TOOLS } from './tools.ts';

// The MCP server card, with the fields of the current draft (SEP-2127) and of the previous one (SEP-1649), which
// scanners still look for.

export const SERVER_CARD_TYPE = 'application/mcp-server-card+json';

/** The draft allows 100 characters. */
const DESCRIPTION = 'Ask several AI models one multiple-choice question; stops once the outcome is certain enough.';

export function serverCard(baseUrl: string): Record<string, unknown> {
  const endpoint = `${baseUrl}/api/mcp`;
  const { name, title, version } = SERVER_INFO;
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${namespaceOf(baseUrl)}/${name}`,
    title,
    version,
    description: DESCRIPTION,
    websiteUrl: baseUrl,
    remotes: [
      {
        type: 'streamable-http',
        url: endpoint,
        headers: [
          {
            name: 'Authorization',
            description: 'Bearer and an API key, or an access token of the identity provider.',
            value: 'Bearer {api_key}',
            variables: { api_key: { description: 'Begins with ep_k_.', isRequired: true, isSecret: true } },
            isRequired: true,
            isSecret: true,
          },
        ],
        supportedProtocolVersions: [...REVISIONS],
      },
    ],
    serverInfo: { name, title, version },
    protocolVersion: REVISIONS[0],
    endpoint,
    transport: { type: 'streamable-http', endpoint: '/api/mcp' },
    capabilities: DECLARED,
    authentication: { required: true, schemes: ['bearer'] },
    tools: TOOLS.map(({ definition }) => ({ name: definition.name, description: definition.description })),
  };
}

/** server.json in the format of the public MCP registry (schema 2025-12-11). */
export function registryEntry(baseUrl: string): Record<string, unknown> {
  const { name, title, version, description, websiteUrl, remotes } = serverCard(baseUrl);
  const $schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
  const [{ type, url, headers }] = remotes as [Record<string, unknown>];
  return { $schema, name, title, description, version, websiteUrl, remotes: [{ type, url, headers }] };
}

/** The host name in reverse order: `polls.example` becomes `example.polls`. */
function namespaceOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const isAddress = /^[\d.]+$|:/.test(hostname);
  return isAddress ? hostname.replace(/[^\w.]/g, '-').replace(/^-|-$/g, '') : hostname.split('.').reverse().join('.');
}
