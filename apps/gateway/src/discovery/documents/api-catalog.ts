import { API_CATALOG, ASYNCAPI_TYPE, OPENAPI_TYPE, type WebLink } from './links.ts';

// The API catalogue (RFC 9727) as a linkset (RFC 9264): every API under its endpoint, with description, documentation
// and status.

interface Api {
  endpoint: string;
  title: string;
  description: string;
  type: string;
}

const APIS: readonly Api[] = [
  { endpoint: '/', title: 'HTTP API', description: '/api/openapi.json', type: OPENAPI_TYPE },
  { endpoint: '/api/poll/stream', title: 'Streamed polls', description: '/asyncapi.json', type: ASYNCAPI_TYPE },
  {
    endpoint: '/api/mcp',
    title: 'Model Context Protocol server',
    description: '/.well-known/mcp/server-card.json',
    type: 'application/json',
  },
  {
    endpoint: '/api/a2a/tasks/send',
    title: 'Agent2Agent tasks',
    description: '/.well-known/agent-card.json',
    type: 'application/json',
  },
];

/** The Link header of a HEAD request (RFC 9727): the profile and the listed APIs. */
export const CATALOG_LINKS: readonly WebLink[] = [
  { rel: 'api-catalog', path: API_CATALOG },
  ...APIS.map(({ endpoint }) => ({ rel: 'item', path: endpoint })),
];

export function apiCatalog(baseUrl: string): Record<string, unknown> {
  const at = (path: string, type: string, title: string) => ({ href: `${baseUrl}${path}`, type, title });
  return {
    linkset: [
      ...APIS.map(({ endpoint, title, description, type }) => ({
        anchor: `${baseUrl}${endpoint}`,
        'service-desc': [at(description, type, title)],
        'service-doc': [
          at('/api/docs', 'text/html', 'Reader for the OpenAPI document'),
          at('/llms.txt', 'text/plain', 'Overview for language models'),
        ],
        'service-meta': [at('/api/routing-descriptions.json', 'application/json', 'When to call which operation')],
        status: [at('/api/health', 'application/json', 'Health')],
      })),
      {
        anchor: `${baseUrl}${API_CATALOG}`,
        item: APIS.map(({ endpoint, title }) => ({ href: `${baseUrl}${endpoint}`, title })),
      },
    ],
  };
}
