// The addresses of our descriptions and their relation to the service, for the Link header of the homepage and the
// linkset of the API catalogue.

export const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1';
export const ASYNCAPI_TYPE = 'application/vnd.aai.asyncapi+json;version=3.0.0';
export const LINKSET_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
export const API_CATALOG = '/.well-known/api-catalog';

export interface WebLink {
  rel: string;
  path: string;
  type?: string;
}

/** Links of the homepage, with registered relations. */
export const HOME_LINKS: readonly WebLink[] = [
  { rel: 'api-catalog', path: API_CATALOG },
  { rel: 'service-desc', path: '/api/openapi.json', type: OPENAPI_TYPE },
  { rel: 'service-desc', path: '/asyncapi.json', type: ASYNCAPI_TYPE },
  { rel: 'service-doc', path: '/api/docs', type: 'text/html' },
  { rel: 'service-meta', path: '/.well-known/agent-skills/index.json', type: 'application/json' },
  { rel: 'describedby', path: '/llms.txt', type: 'text/plain' },
  { rel: 'status', path: '/api/health', type: 'application/json' },
  { rel: 'alternate', path: '/', type: 'text/markdown' },
];

/** A Link header (RFC 8288). */
export const linkHeader = (links: readonly WebLink[]): string =>
  links
    .map(({ rel, path, type }) => `<${path}>; rel="${rel}"${type === undefined ? '' : `; type="${type}"`}`)
    .join(', ');
