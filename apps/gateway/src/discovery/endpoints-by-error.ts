import type { ErrorCode } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { answersOf } from '../http/hooks/declared-answers.ts';

export type EndpointsByError = ReadonlyMap<ErrorCode, string[]>;

/** Which operations can answer which error, from the schemas of all routes that are registered afterwards. */
export function endpointsByError(app: FastifyInstance): EndpointsByError {
  const endpoints = new Map<ErrorCode, string[]>();
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (schema?.hide || method === 'HEAD') return;
    const endpoint = `${[method].flat().join('|')} ${url.replace(/:(\w+)/g, '{$1}')}`;
    for (const { codes = [] } of Object.values(answersOf(schema)))
      for (const code of codes) endpoints.set(code, [...(endpoints.get(code) ?? []), endpoint]);
  });
  return endpoints;
}
