import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { PagesContext } from '../context.ts';
import type { Funding } from '../dashboard/account.ts';
import { accountView } from '../dashboard/account-view.ts';
import { overviewPage } from '../dashboard/overview-page.ts';
import { serveAccountPage } from './serve-account-page.ts';

/** GET /dashboard: how the account stands, and the next poll. */
export function dashboardRoute(app: FastifyInstance, context: PagesContext, facts: Facts): void {
  const funding = fundingOf(context);
  serveAccountPage(app, facts, {
    path: '/dashboard',
    operationId: 'getDashboard',
    summary: 'Dashboard page',
    query: {
      checkout: '`success` or `cancelled`: back from paying.',
      looks: 'How often the page has looked for the payment.',
    },
    render: async (accountId, { checkout, looks = '' }) => {
      const account = await accountView(context, accountId, {
        checkout: checkout === 'success' || checkout === 'cancelled' ? checkout : null,
        looks: /^\d{1,6}$/.test(looks) ? Number(looks) : 0,
      });
      return account && overviewPage(facts, account, funding);
    },
  });
}

const fundingOf = ({ processor, deposits }: PagesContext): Funding => ({
  card: processor !== null,
  chain: deposits && {
    id: deposits.settings.chainId,
    name: deposits.settings.network,
    asset: deposits.settings.asset,
    payTo: deposits.settings.payTo,
  },
});
