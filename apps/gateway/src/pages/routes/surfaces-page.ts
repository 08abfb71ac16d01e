import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { servePage } from '../serve-page.ts';
import { surfacesPage } from '../surfaces-page.ts';

/** GET /surfaces. */
export function surfacesPageRoute(app: FastifyInstance, facts: Facts): void {
  servePage(app, {
    baseUrl: facts.baseUrl,
    path: '/surfaces',
    operationId: 'getSurfacesPage',
    summary: 'Integrations page',
    query: { user: 'Ways for this kind of user only.', category: 'Ways that are this settled only.' },
    render: (filter) => surfacesPage(facts, filter),
  });
}
