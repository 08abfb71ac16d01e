import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '@eloquentpoll/contracts';
import cookie from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type RawServerDefault,
} from 'fastify';
import { auth } from './accounts/authenticate.ts';
import type { Context } from './context.ts';
import { openapi } from './discovery/openapi.ts';
import { accessLog } from './http/hooks/access-log.ts';
import { bodyParsing } from './http/hooks/body-parsing.ts';
import { bodyTimeout } from './http/hooks/body-timeout.ts';
import { answerClientError } from './http/hooks/client-errors.ts';
import { crossOrigin } from './http/hooks/cross-origin.ts';
import { declaredAnswers } from './http/hooks/declared-answers.ts';
import { errorReplies, sendError } from './http/hooks/errors.ts';
import { idempotencyKeys } from './http/hooks/idempotency-key.ts';
import { noteWrites } from './http/hooks/note-writes.ts';
import { pageMarkdown } from './http/hooks/page-markdown.ts';
import { pipelinedRequests } from './http/hooks/pipelined-requests.ts';
import { rateLimit } from './http/hooks/rate-limit.ts';
import { requestFraming } from './http/hooks/request-framing.ts';
import { requestId } from './http/hooks/request-ids.ts';
import { requestTraces } from './http/hooks/request-traces.ts';
import { baseHeaders, responseHeaders, setBaseHeaders } from './http/hooks/response-headers.ts';
import { unmatched } from './http/hooks/unmatched.ts';
import { STANDSTILL_MS, unreadAnswers } from './http/hooks/unread-answers.ts';
import { TrailingSlash } from './http/trailing-slash.ts';
import { compile } from './http/validation/validator.ts';
import { sendMissingPage } from './pages/missing-page.ts';
import { routes } from './routes.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The whole HTTP side, not listening yet. The caller closes the context itself, after the app. */
export function buildApp(context: Context): App {
  const { config, panels } = context;
  const slashes = new TrailingSlash();
  const app = fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    bodyLimit: LIMITS.body_bytes,
    // Longer than any route allows, so that body-timeout.ts answers first, with the route's own message.
    requestTimeout: LIMITS.batch.upload_ms + 15_000,
    connectionTimeout: STANDSTILL_MS,
    keepAliveTimeout: 72_000,
    // A request without Host is refused in request-framing.ts, with a body.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000, requireHostHeader: false },
    rewriteUrl: ({ url = '/' }) => slashes.rewrite(url),
    forceCloseConnections: 'idle',
    // While draining, requests that still arrive on open connections are served; then the connection is closed.
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    // A path that cannot be decoded is refused before any hook runs.
    frameworkErrors: (error, request, reply) => {
      setBaseHeaders(reply, baseHeaders(config));
      sendError(config, error, request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.addHook('onRoute', ({ url }) => slashes.learn(url));
  app.addHook('preClose', async () => context.shutdown.close());
  app.setValidatorCompiler(compile);

  app.register(declaredAnswers);
  app.register(errorReplies, { config });
  app.register(unmatched, {
    sendMissingPage: (request: FastifyRequest, reply: FastifyReply) =>
      sendMissingPage(request, reply, { baseUrl: config.baseUrl, panels }),
  });
  app.register(responseHeaders, { context });
  app.register(pipelinedRequests);
  app.register(requestFraming);
  app.register(bodyTimeout, {});
  app.register(unreadAnswers, {});
  app.register(crossOrigin);
  app.register(accessLog, { context });
  if (context.tracer) app.register(requestTraces, { tracer: context.tracer });
  app.register(bodyParsing);
  app.register(openapi, { context });
  app.register(cookie);
  app.register(auth, { context });
  app.register(rateLimit, { context });
  app.register(idempotencyKeys);
  app.register(noteWrites, { lists: context.lists });
  app.register(pageMarkdown);
  app.register(routes, { context });
  return app;
}
