import { Surface } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../documents/facts.ts';
import { surfacesOf } from '../documents/surfaces.ts';
import { serveDocument } from '../serve-document.ts';

/** GET /api/surfaces: all surfaces, as a bare array. */
export function surfacesRoute(app: FastifyInstance, facts: Facts): void {
  serveDocument(app, {
    path: '/api/surfaces',
    operationId: 'getSurfaces',
    tag: 'System',
    summary: 'List integrations',
    mediaType: 'application/json',
    shape: Type.Array(Type.Ref(Surface)),
    body: () => JSON.stringify(surfacesOf(facts)),
  });
}
