import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { homeMarkdown } from '../../discovery/documents/home.ts';
import { HOME_LINKS, linkHeader } from '../../discovery/documents/links.ts';
import { access } from '../../http/access.ts';
import { errors, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { markdownHeaders } from '../../http/markdown.ts';
import { prefersMarkdown } from '../../http/prefers-markdown.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import { agentHome } from '../agent-home.ts';
import { humanHome } from '../human-home.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';

const HEADERS = {
  link: linkHeader(HOME_LINKS),
  vary: 'Accept',
  'cache-control': 'public, max-age=300',
  ...PAGE_HEADERS,
};

/** GET /: for agents as HTML or markdown, depending on Accept; for people with ?view=human. */
export function homeRoute(app: FastifyInstance, facts: Facts): void {
  let made: ReturnType<typeof homePages> | undefined;

  app.get<{ Querystring: { view?: string | string[] } }>(
    '/',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getHome',
        tags: ['System'],
        summary: 'Homepage',
        description: 'Returns markdown if the Accept header allows it and does not prefer HTML.',
        security: access.none,
        querystring: Type.Object({
          view: Type.Optional(
            Type.Union([Type.String(), Type.Array(Type.String())], {
              description: '`human` for the page for people; otherwise the page for agents.',
            }),
          ),
        }),
        response: { 200: PAGE, ...NOT_MODIFIED, ...errors() },
      },
    },
    async (request, reply) => {
      made ??= homePages(facts);
      const pages = made;
      reply.headers(HEADERS);
      if ([request.query.view].flat().includes('human'))
        return sendPublicText(request, reply.type(HTML_TYPE), pages.human);
      if (!prefersMarkdown(request.headers.accept)) return sendPublicText(request, reply.type(HTML_TYPE), pages.agent);
      reply.type('text/markdown; charset=utf-8').headers(markdownHeaders(pages.markdown));
      return sendPublicText(request, reply, pages.markdown);
    },
  );
}

const homePages = (facts: Facts) => ({
  markdown: homeMarkdown(facts),
  agent: agentHome(facts),
  human: humanHome(facts),
});

const { description, content } = textAnswer('The page.', 'text/html');
const PAGE = { description, content: { ...content, ...textAnswer('', 'text/markdown').content } };
