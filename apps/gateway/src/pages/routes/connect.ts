import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import { connectPage } from '../connect/connect-page.ts';
import { guidePage } from '../guides/guide.ts';
import { GUIDES, guidesOf } from '../guides/index.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { servePage } from '../serve-page.ts';

/** GET /connect and GET /guides/{guide}. */
export function connectRoutes(app: FastifyInstance, facts: Facts): void {
  const { baseUrl } = facts;
  servePage(app, {
    baseUrl,
    path: '/connect',
    operationId: 'getConnectPage',
    summary: 'Connect page',
    query: {},
    render: () => connectPage(facts),
  });
  app.get<{ Params: { guide: string } }>(
    '/guides/:guide',
    {
      config: { operation: 'read', markdownBase: baseUrl },
      schema: {
        operationId: 'getGuide',
        tags: ['System'],
        summary: 'Guide page',
        security: access.none,
        params: Type.Object({
          guide: Type.String({ description: `One of ${GUIDES.map(({ name }) => name).join(', ')}.` }),
        }),
        response: { 200: textAnswer('The page.', 'text/html'), ...NOT_MODIFIED, ...errors('not_found') },
      },
    },
    async (request, reply) => {
      const guide = guidesOf(facts).find(({ name }) => name === request.params.guide);
      if (!guide) throw new ApiError('not_found');
      reply.headers({ ...PAGE_HEADERS, 'cache-control': 'public, max-age=60' });
      return sendPublicText(request, reply.type(HTML_TYPE), guidePage(facts, guide));
    },
  );
}
