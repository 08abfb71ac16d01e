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
      family: 'Only models of this family.',
      preset: 'Only models of this panel.',
      capability: 'Only models with this capability.',
      sort: 'Name of a column, such as `cost`; a leading `-` reverses the order.',
    },
    render: async (filter) => modelsPage(facts, (await reputations()).value, await modelsOut.now(), filter),
  });
}
