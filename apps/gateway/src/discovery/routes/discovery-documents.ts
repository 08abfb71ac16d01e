import type { FastifyInstance } from 'fastify';
import { aiPlugin } from '../documents/ai-plugin.ts';
import { apiCatalog, CATALOG_LINKS } from '../documents/api-catalog.ts';
import { asyncApi } from '../documents/async-api.ts';
import type { Facts } from '../documents/facts.ts';
import { API_CATALOG, LINKSET_TYPE, linkHeader } from '../documents/links.ts';
import { llms, llmsFull } from '../documents/llms.ts';
import { robots } from '../documents/robots.ts';
import { routingDescriptions } from '../documents/routing-descriptions.ts';
import { sitemap } from '../documents/sitemap.ts';
import { serveDocument } from '../serve-document.ts';

/** The discovery documents, each computed from what it describes. */
export function discoveryDocumentRoutes(app: FastifyInstance, facts: Facts): void {
  const { baseUrl, config } = facts;
  const system = { tag: 'System', mediaType: 'application/json' } as const;

  serveDocument(app, {
    ...system,
    path: API_CATALOG,
    operationId: 'getApiCatalog',
    summary: 'Get the API catalog (RFC 9727)',
    mediaType: LINKSET_TYPE,
    headers: { link: linkHeader(CATALOG_LINKS) },
    body: () => JSON.stringify(apiCatalog(baseUrl)),
  });
  serveDocument(app, {
    ...system,
    path: '/api/routing-descriptions.json',
    operationId: 'getRoutingDescriptions',
    summary: 'Get routing descriptions',
    body: () => JSON.stringify(routingDescriptions(app, baseUrl)),
  });
  serveDocument(app, {
    ...system,
    path: '/asyncapi.json',
    operationId: 'getAsyncApi',
    summary: 'Get the AsyncAPI document',
    body: () => JSON.stringify(asyncApi(baseUrl)),
  });
  serveDocument(app, {
    ...system,
    path: '/.well-known/ai-plugin.json',
    operationId: 'getPluginManifest',
    summary: 'Get the plugin manifest',
    body: () => JSON.stringify(aiPlugin(facts)),
  });
  serveDocument(app, {
    ...system,
    path: '/llms.txt',
    operationId: 'getLlms',
    summary: 'Get llms.txt',
    mediaType: 'text/plain',
    body: () => llms(facts),
  });
  serveDocument(app, {
    ...system,
    path: '/llms-full.txt',
    operationId: 'getLlmsFull',
    summary: 'Get llms-full.txt',
    mediaType: 'text/plain',
    body: () => llmsFull(app, facts),
  });
  serveDocument(app, {
    ...system,
    path: '/robots.txt',
    operationId: 'getRobots',
    summary: 'Get robots.txt',
    mediaType: 'text/plain',
    body: () => robots(config),
  });
  serveDocument(app, {
    ...system,
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    summary: 'Get the sitemap',
    mediaType: 'application/xml',
    body: () => sitemap(app, baseUrl),
  });
}
