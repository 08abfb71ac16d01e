import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';
import { isChatPath } from '../chat-errors.ts';
import { allowNamed, answerPreflight } from './cross-origin.ts';
import { wantsProblem } from './errors.ts';

// Requests that match no route: a preflight for one of our paths, a method that a path does not support, or an unknown
// path. Only these requests pay for the search.

interface Unmatched {
  /** The page that a browser gets at an unknown address. */
  sendMissingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

interface KnownPath {
  /** Compiled for the first path that matches no route. */
  pattern: RegExp | undefined;
  methods: Set<string>;
  allowsOrigin: ((origin: string) => boolean) | undefined;
}

export const unmatched = plugin(async (app: FastifyInstance, { sendMissingPage }: Unmatched) => {
  const paths = new Map<string, KnownPath>();

  app.addHook('onRoute', ({ url, method, config }) => {
    const known = paths.get(url) ?? { pattern: undefined, methods: new Set(), allowsOrigin: config?.allowsOrigin };
    for (const name of [method].flat()) known.methods.add(name);
    paths.set(url, known);
  });

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set<string>();
    let allowsOrigin: KnownPath['allowsOrigin'];
    for (const [url, known] of paths) {
      known.pattern ??= patternOf(url);
      if (!known.pattern.test(path)) continue;
      for (const name of known.methods) methods.add(name);
      allowsOrigin ??= known.allowsOrigin;
    }
    if (methods.size === 0 && isForPeople(request)) {
      return sendMissingPage(request, reply);
    }
    if (methods.size === 0) throw new ApiError('not_found');
    if (allowsOrigin) allowNamed(request, reply, allowsOrigin);
    const allow = [...methods, 'OPTIONS'].sort().join(', ');
    if (request.method === 'OPTIONS') return answerPreflight(reply, allow);
    throw new ApiError('method_not_allowed', { headers: { allow } });
  });
});

/** Whether a browser is asking for a page. */
export const isForPeople = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  !url.startsWith('/api/') &&
  !isChatPath(url) &&
  /text\/html/i.test(headers.accept ?? '') &&
  !wantsProblem({ headers });

/** `/api/polls/:id/status` as a regular expression; a parameter matches one path segment. */
function patternOf(url: string): RegExp {
  const steps = url.split('/').map((step) => {
    if (step === '*') return '.*';
    return step.startsWith(':') ? '[^/]+' : step.replace(/\W/g, '\\$&');
  });
  return new RegExp(`^${steps.join('/')}$`);
}
