import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { Reputations } from '../../discovery/reputations.ts';
import type { PagesContext } from '../context.ts';
import { modelsPage } from '../models-page.ts';
import { servePage } from '../serve-page.ts';

/** GET /models. */
export function modelsPageRoute(
  app: FastifyInstance,
  facts: Facts,
  reputations: Reputations,
  { modelsOut }: Pick<PagesContext, 'modelsOut'>,
): void {
  servePage(app, {
    baseUrl: facts.baseUrl,
    path: '/models',
    operationId: 'getModelsPage',
    summary: 'Models page',
    query: {
      family: 'Models of this family only.',
      preset: 'Models of this panel only.',
      capability: 'Models that can do this only.',
      sort: 'Name of a column, such as `cost`; with `-` before it the other way round.',
    },
    render: async (filter) => modelsPage(facts, (await reputations()).value, await modelsOut.now(), filter),
  });
}
