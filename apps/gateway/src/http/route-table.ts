import type { FastifyInstance } from 'fastify';
import { access } from './access.ts';

type Callers = 'anyone' | 'key' | 'key or none' | 'login' | 'login or none' | 'login or key' | 'login, key or none';

export type RouteRow = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  operationId: string,
  callers: Callers,
  register?: () => unknown,
];

const SECURITY: Record<Callers, keyof typeof access> = {
  anyone: 'none',
  key: 'bearer',
  'key or none': 'bearerOptional',
  login: 'session',
  'login or none': 'sessionOptional',
  'login or key': 'sessionOrBearer',
  'login, key or none': 'sessionOrBearerOptional',
};

/** Returns a check that throws if the router and the table differ, so that the table can be trusted. */
export function expectRoutes(app: FastifyInstance, table: readonly RouteRow[]): () => void {
  const expected = new Set(
    table.map(([method, path, operationId, callers]) => line(method, path, operationId, access[SECURITY[callers]])),
  );
  const unlisted: string[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'HEAD' || schema?.hide || schema?.operationId?.startsWith('getFile')) return;
    const registered = line(String(method), url, schema?.operationId, schema?.security);
    if (!expected.delete(registered)) unlisted.push(registered);
  });
  return () => {
    if (unlisted.length + expected.size === 0) return;
    throw new Error(
      `routes.ts does not match the router.\nNot in its table:\n${unlisted.join('\n')}\nNot registered:\n${[...expected].join('\n')}`,
    );
  };
}

const line = (method: string, path: string, operationId: string | undefined, security: unknown): string =>
  `${method} ${path} ${operationId} ${JSON.stringify(security)}`;
