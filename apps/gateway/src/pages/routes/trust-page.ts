import type { FastifyInstance } from 'fastify';
import type { Calibrations } from '../../discovery/calibrations.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { servePage } from '../serve-page.ts';
import { trustPage } from '../trust/trust-page.ts';

/** GET /trust. */
export function trustPageRoute(app: FastifyInstance, facts: Facts, calibrations: Calibrations): void {
  servePage(app, {
    baseUrl: facts.baseUrl,
    path: '/trust',
    operationId: 'getTrustPage',
    summary: 'Calibration page',
    query: {},
    render: async () => {
      const { calibration, window } = (await calibrations()).value;
      return trustPage(facts, calibration, window);
    },
  });
}
