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
    summary: 'All APIs of this service in one linkset (RFC 9727)',
    mediaType: LINKSET_TYPE,
    headers: { link: linkHeader(CATALOG_LINKS) },
    body: () => JSON.stringify(apiCatalog(baseUrl)),
  });
  serveDocument(app, {
    ...system,
    path: '/api/routing-descriptions.json',
    operationId: 'getRoutingDescriptions',
    summary: 'Every operation with its cost, its latency and when to call it',
    body: () => JSON.stringify(routingDescriptions(app, baseUrl)),
  });
  serveDocument(app, {
    ...system,
    path: '/asyncapi.json',
    operationId: 'getAsyncApi',
    summary: 'The AsyncAPI 3.0 description of streamed polls',
    body: () => JSON.stringify(asyncApi(baseUrl)),
  });
  serveDocument(app, {
    ...system,
    path: '/.well-known/ai-plugin.json',
    operationId: 'getPluginManifest',
    summary: 'The plugin manifest',
    body: () => JSON.stringify(aiPlugin(config)),
  });
  serveDocument(app, {
    ...system,
    path: '/llms.txt',
    operationId: 'getLlms',
    summary: 'The service for language models, in short',
    mediaType: 'text/plain',
    body: () => llms(facts),
  });
  serveDocument(app, {
    ...system,
    path: '/llms-full.txt',
    operationId: 'getLlmsFull',
    summary: 'The service for language models, all of it',
    mediaType: 'text/plain',
    body: () => llmsFull(app, facts),
  });
  serveDocument(app, {
    ...system,
    path: '/robots.txt',
    operationId: 'getRobots',
    summary: 'What crawlers may read, and what for',
    mediaType: 'text/plain',
    body: () => robots(config),
  });
  serveDocument(app, {
    ...system,
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    summary: 'The pages worth finding',
    mediaType: 'application/xml',
    body: () => sitemap(app, baseUrl),
  });
}
