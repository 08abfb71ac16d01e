import { ErrorCatalog, ErrorEntry, errorCatalog } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { SiteFacts } from '../../discovery/documents/facts.ts';
import type { EndpointsByError } from '../../discovery/endpoints-by-error.ts';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import { errorPage } from '../error-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';

// GET /api/errors/catalog lists every error; the `type` of Problem Details links to GET /errors/{code}.

const CACHED = { 'cache-control': 'public, max-age=300' };

export function errorCatalogRoutes(app: FastifyInstance, facts: SiteFacts, endpoints: EndpointsByError): void {
  let catalog: ErrorCatalog | undefined;
  // Computed on the first request, when all routes are registered.
  const theCatalog = () => (catalog ??= errorCatalog(facts.baseUrl, (code) => endpoints.get(code) ?? []));

  app.get(
    '/api/errors/catalog',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getErrorCatalog',
        tags: ['System'],
        summary: 'List error codes',
        security: access.none,
        response: { 200: jsonAnswer('The catalogue.', ErrorCatalog), ...NOT_MODIFIED, ...errors() },
      },
    },
    async (request, reply) => {
      reply.headers(CACHED).type('application/json; charset=utf-8');
      return sendPublicText(request, reply, JSON.stringify(theCatalog()));
    },
  );

  app.get<{ Params: { code: string } }>(
    '/errors/:code',
    {
      config: { operation: 'read', markdownBase: facts.baseUrl },
      schema: {
        operationId: 'getError',
        tags: ['System'],
        summary: 'Get an error code',
        security: access.none,
        params: Type.Object({ code: Type.String({ description: 'For example `rate_limited`.' }) }),
        response: { 200: ENTRY, ...NOT_MODIFIED, ...errors('not_found') },
      },
    },
    async (request, reply) => {
      const entry = theCatalog().errors.find(({ code }) => code === request.params.code);
      if (!entry) throw new ApiError('not_found');
      const isRead =
        request.routeOptions.config.markdownOnly || /\btext\/(html|markdown)\b/.test(request.headers.accept ?? '');
      reply.headers({ ...CACHED, vary: 'Accept' });
      if (!isRead) return sendPublicText(request, reply.type('application/json; charset=utf-8'), JSON.stringify(entry));
      return sendPublicText(request, reply.type(HTML_TYPE).headers(PAGE_HEADERS), errorPage(facts, entry));
    },
  );
}

const { description, content } = jsonAnswer('The entry; browsers get a page.', ErrorEntry);
const ENTRY = { description, content: { ...content, ...textAnswer('', 'text/html').content } };
