import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, textAnswer } from '../../http/answers.ts';
import { readerPage, readerScript, START_SCRIPT } from '../documents/api-reader.ts';

// GET /api/docs: a reader for the OpenAPI document. Page, script and document come from here; the page's policy lets
// the browser reach nowhere else.

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function docsRoute(app: FastifyInstance): void {
  app.get(
    '/api/docs',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getDocs',
        tags: ['System'],
        summary: 'The documentation of this API, for reading and trying out',
        security: access.none,
        response: { 200: textAnswer('A page.', 'text/html'), ...errors() },
      },
    },
    async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': 'public, max-age=300' })
        .send(readerPage()),
  );

  app.get(
    '/api/docs/start.js',
    { config: { operation: 'read' }, schema: { hide: true, security: access.none } },
    async (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=300').send(START_SCRIPT),
  );

  app.get(
    '/api/docs/reader.js',
    { config: { operation: 'read' }, schema: { hide: true, security: access.none } },
    async (request, reply) => {
      const script = await readerScript();
      const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding']));
      reply
        .type('text/javascript; charset=utf-8')
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' });
      if (zipped) reply.header('content-encoding', 'gzip');
      return reply.send(zipped ? script.gzip : script.plain);
    },
  );
}
