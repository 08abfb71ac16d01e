import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { filledFrom } from '../ask-again.ts';
import { askedBefore } from '../asked-before.ts';
import type { PagesContext } from '../context.ts';
import type { Funding } from '../dashboard/account.ts';
import { accountView } from '../dashboard/account-view.ts';
import { overviewPage } from '../dashboard/overview-page.ts';
import { serveAccountPage } from './serve-account-page.ts';

/** GET /dashboard: the state of the account, and the next poll. */
export function dashboardRoute(app: FastifyInstance, context: PagesContext, facts: Facts): void {
  const funding = fundingOf(context);
  serveAccountPage(app, facts, {
    path: '/dashboard',
    operationId: 'getDashboard',
    summary: 'Dashboard page',
    query: {
      checkout: '`success` or `cancelled`, after a card payment.',
      looks: 'How often the page has checked the payment.',
      again: 'Id of a result, or of a session of the account; fills the form with that poll.',
      wording: '`new`: leaves the question empty.',
      next: 'The page to open after the login.',
    },
    // The page itself keeps the fields of a poll.
    afterLogin: ({ next = '/dashboard' }) => next,
    render: async (accountId, { checkout, looks = '', again = '', wording }) => {
      const asked = await askedBefore(context, accountId, again);
      const account = await accountView(context, accountId, {
        checkout: checkout === 'success' || checkout === 'cancelled' ? checkout : null,
        looks: /^\d{1,6}$/.test(looks) ? Number(looks) : 0,
      });
      const filled = asked && filledFrom(wording === 'new' ? { ...asked, question: '' } : asked);
      return account && overviewPage(facts, account, { funding, filled });
    },
  });
}

const fundingOf = ({ processor, deposits, config }: PagesContext): Funding => ({
  card: processor && { holdBack: config.cardHoldBack },
  chain: deposits && {
    id: deposits.settings.chainId,
    name: deposits.settings.network,
    asset: deposits.settings.asset,
    payTo: deposits.settings.payTo,
  },
});
