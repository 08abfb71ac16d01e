import type { ErrorCode } from '@eloquentpoll/contracts';
import type { Counter, Metrics } from '@eloquentpoll/ops';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { HttpContext } from '../context.ts';

// Counts, times and logs each answered request by its route pattern, because a path or query may contain an id or a
// code. Errors are always logged, LOG_SAMPLE of the rest; successful status requests only for debugging.

declare module 'fastify' {
  interface FastifyContextConfig {
    meter?: Meter;
  }
  interface FastifyInstance {
    /** Meter of requests without a route. */
    unmatchedMeter: Meter;
  }
}

interface Meter {
  count(status: number, seconds: number, code: ErrorCode | null): void;
  /** Whether this successful request is logged. */
  sample(): boolean;
}

export const accessLog = plugin(async (app: FastifyInstance, { context }: { context: HttpContext }) => {
  const meterOf = metering(context);
  app.decorate('unmatchedMeter', meterOf('none'));
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, meter: meterOf(route.schema?.operationId ?? 'none') };
  });
  app.addHook('onResponse', (request, reply, done) => {
    recordAnswer(request, reply);
    done();
  });
});

export function recordAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { url = 'none', config } = request.routeOptions;
  const { statusCode: status, elapsedTime, errorCode: code } = reply;
  const meter = config.meter ?? request.server.unmatchedMeter;
  meter.count(status, elapsedTime / 1_000, code);
  const succeeded = status < 400;
  const level = succeeded && config.operation === 'session' ? 'debug' : 'info';
  if (succeeded && !meter.sample()) return;
  const line = { method: request.method, route: url, status, ms: Math.round(elapsedTime) };
  request.log[level](code === null ? line : { ...line, code }, 'request.answered');
}

function metering({ metrics, config }: HttpContext): (operation: string) => Meter {
  const codes = new Map<ErrorCode, Counter>();
  const sample = sampler(config.logSample);
  const countCode = (code: ErrorCode): void => {
    const counter = codes.get(code) ?? metrics.counter('eloquentpoll_http_errors_total', code);
    codes.set(code, counter);
    counter.n += 1;
  };
  return (operation) => {
    const durations = metrics.histogram('eloquentpoll_http_request_duration_seconds', operation);
    const answers = byStatus(metrics, operation);
    return {
      sample,
      count(status, seconds, code) {
        answers(status).n += 1;
        durations.observe(seconds);
        if (code !== null) countCode(code);
      },
    };
  };
}

function byStatus(metrics: Metrics, operation: string): (status: number) => Counter {
  const counters: Counter[] = [];
  return (status) => {
    counters[status] ??= metrics.counter('eloquentpoll_http_requests_total', operation, String(status));
    return counters[status];
  };
}

/** True for this share of the calls, evenly spread. */
function sampler(share: number): () => boolean {
  let due = 0;
  return () => {
    due += share;
    if (due < 1) return false;
    due -= 1;
    return true;
  };
}
