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
    query: { user: 'Only integrations for this kind of user.', category: 'Only integrations of this maturity.' },
    render: (filter) => surfacesPage(facts, filter),
  });
}
