import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { BudgetName } from '../config/rate-limit-policies.ts';
import { access } from '../http/access.ts';
import { errors, NOT_MODIFIED, textAnswer } from '../http/answers.ts';
import { sendPublicText } from '../http/send-tagged.ts';
import { HTML_TYPE, PAGE_HEADERS } from './layout.ts';

type Query = Readonly<Record<string, string | undefined>>;

export interface ServedPage {
  baseUrl: string;
  path: string;
  operationId: string;
  summary: string;
  /** The form's parameters with descriptions. Any text is accepted; the page handles invalid values. */
  query: Readonly<Record<string, string>>;
  /** The rate-limit budget it draws from; `read` unless the page is expensive to compute. */
  operation?: BudgetName;
  render(query: Query): string | Promise<string>;
}

/** GET route of a page that depends only on its URL. */
export function servePage(app: FastifyInstance, page: ServedPage): void {
  const query = Object.entries(page.query).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description, maxLength: 100 })),
  ]);
  app.get<{ Querystring: Query }>(
    page.path,
    {
      config: { operation: page.operation ?? 'read', markdownBase: page.baseUrl },
      schema: {
        operationId: page.operationId,
        tags: ['System'],
        summary: page.summary,
        security: access.none,
        querystring: Type.Object(Object.fromEntries(query)),
        response: { 200: textAnswer('The page.', 'text/html'), ...NOT_MODIFIED, ...errors('invalid_preset') },
      },
    },
    async (request, reply) => {
      const made = await page.render(request.query);
      reply.headers({ ...PAGE_HEADERS, 'cache-control': 'public, max-age=60' });
      return sendPublicText(request, reply.type(HTML_TYPE), made);
    },
  );
}
