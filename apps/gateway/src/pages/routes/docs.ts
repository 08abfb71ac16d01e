import type { FastifyInstance } from 'fastify';
import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import { HTML_TYPE, PAGE_POLICY } from '../layout.ts';
import { readerPage, readerScript, START_SCRIPT } from '../reference/api-reader.ts';
import type { ApiDocument } from '../reference/openapi-shapes.ts';
import { referencePage } from '../reference/reference-page.ts';

/** For the interactive viewer, which has inline styles. It is served from here and may not contact any other origin. */
const READER_POLICY = [
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

const HIDDEN = {
  config: { operation: 'read' as const },
  schema: { hide: true, security: access.none, response: errors() },
};
const MINUTES = 'public, max-age=300';

/** GET /api/docs: the reference; /api/docs/try: a viewer that sends requests, with four megabytes of script. */
export function docsRoute(app: FastifyInstance, facts: SiteFacts): void {
  let page: string | undefined;
  app.get(
    '/api/docs',
    {
      config: { operation: 'read', markdownBase: facts.baseUrl },
      schema: {
        operationId: 'getDocs',
        tags: ['System'],
        summary: 'Get the API reference',
        description: 'All operations with working samples. `/api/docs/try` sends requests from the browser.',
        security: access.none,
        response: { 200: textAnswer('A page.', 'text/html'), ...NOT_MODIFIED, ...errors() },
      },
    },
    async (request, reply) => {
      // The library's type is wider than our own document.
      page ??= referencePage(facts, app.swagger() as unknown as ApiDocument);
      reply.type(HTML_TYPE).headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': MINUTES });
      return sendPublicText(request, reply, page);
    },
  );

  app.get('/api/docs/try', HIDDEN, async (request, reply) => {
    reply.type(HTML_TYPE).headers({ 'content-security-policy': READER_POLICY, 'cache-control': MINUTES });
    return sendPublicText(request, reply, readerPage());
  });

  app.get('/api/docs/start.js', HIDDEN, async (request, reply) =>
    sendPublicText(
      request,
      reply.type('text/javascript; charset=utf-8').header('cache-control', MINUTES),
      START_SCRIPT,
    ),
  );

  app.get('/api/docs/reader.js', HIDDEN, async (request, reply) => {
    const script = await readerScript();
    const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    reply
      .type('text/javascript; charset=utf-8')
      .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' });
    if (zipped) reply.header('content-encoding', 'gzip');
    return reply.send(zipped ? script.gzip : script.plain);
  });
}
