import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, textAnswer } from '../../http/answers.ts';
import type { PagesContext } from '../context.ts';
import type { Funding } from '../dashboard/account.ts';
import { type AccountQuery, accountView } from '../dashboard/account-view.ts';
import { dashboardPage } from '../dashboard/page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';

type Query = Partial<Record<keyof AccountQuery, string>>;

/** GET /dashboard: the account, or the sign-in page. Not cacheable. */
export function dashboardRoute(app: FastifyInstance, context: PagesContext, facts: Facts): void {
  const signIn = signInPage(facts);
  const funding = fundingOf(context);
  const word = (description: string) => Type.Optional(Type.String({ description, maxLength: 20 }));

  app.get<{ Querystring: Query }>(
    '/dashboard',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getDashboard',
        tags: ['System'],
        summary: 'Dashboard page',
        security: access.sessionOptional,
        querystring: Type.Object({
          page: word('Of the history, counted from 1.'),
          checkout: word('`success` or `cancelled`: back from paying.'),
          looks: word('How often the page has looked for the payment.'),
        }),
        response: {
          200: textAnswer('The page, or the one to sign in with.', 'text/html'),
          ...errors('account_frozen'),
        },
      },
    },
    async ({ principal, query }, reply) => {
      reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
      const account = principal && (await accountView(context, principal.accountId, read(query)));
      return account ? dashboardPage(facts, account, funding) : signIn;
    },
  );
}

/** An invalid query parameter counts as absent. */
const read = ({ page, checkout, looks }: Query): AccountQuery => ({
  page: Math.max(1, count(page)),
  checkout: checkout === 'success' || checkout === 'cancelled' ? checkout : null,
  looks: count(looks),
});

const count = (text = ''): number => (/^\d{1,6}$/.test(text) ? Number(text) : 0);

const fundingOf = ({ processor, deposits }: PagesContext): Funding => ({
  card: processor !== null,
  chain: deposits && {
    id: deposits.settings.chainId,
    name: deposits.settings.network,
    asset: deposits.settings.asset,
    payTo: deposits.settings.payTo,
  },
});
