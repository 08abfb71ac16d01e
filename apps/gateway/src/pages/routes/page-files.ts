import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import { houseCard } from '../card/result-card.ts';
import { LOGO } from '../logo.ts';
import { pageAssets } from '../page-assets.ts';
import { WEB_MCP_SCRIPT } from '../web-mcp.ts';

const FILES = [
  { path: '/web-mcp.js', mediaType: 'text/javascript; charset=utf-8', text: WEB_MCP_SCRIPT },
  { path: '/logo.svg', mediaType: 'image/svg+xml', text: LOGO },
];

/** Scripts and stylesheets of the pages, hidden from OpenAPI. */
export function pageFileRoutes(app: FastifyInstance): void {
  let card: Promise<Buffer> | undefined;
  app.get(
    '/og.png',
    { config: { operation: 'read' }, schema: { hide: true, security: access.none, response: errors() } },
    async (_request, reply) => {
      card ??= houseCard();
      return reply
        .type('image/png')
        .header('cache-control', 'public, max-age=86400')
        .send(await card);
    },
  );
  for (const { path, mediaType, text } of [...FILES, ...pageAssets()]) {
    app.get(
      path,
      { config: { operation: 'read' }, schema: { hide: true, security: access.none, response: errors() } },
      async (request, reply) =>
        sendTagged(request, reply.type(mediaType).header('cache-control', 'public, max-age=600'), text),
    );
  }
}
