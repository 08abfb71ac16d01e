import { LIMITS, UsageFigures, UsageGroup } from '@eloquentpoll/contracts';
import { balanceOf, listKeys, setLowBalance } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { usageReport } from '../../accounts/usage.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access, accountOf } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import type { PagesContext } from '../context.ts';
import { readUsageView } from '../dashboard/read-usage-view.ts';
import { usageViewCsv } from '../dashboard/usage-export.ts';
import { readUsageAsked, USAGE_QUERY } from '../dashboard/usage-filter.ts';
import { USAGE_PATH, usagePage } from '../dashboard/usage-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';
import { describedTexts, type PageQuery, serveAccountPage } from './serve-account-page.ts';

type ExportQuery = PageQuery & { format: 'csv' | 'json' };

/** The usage page, its export, and the form for the low-balance limit. */
export async function dashboardUsageRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { storage, config } = context;
  const signIn = signInPage(facts, USAGE_PATH);
  takeForms(app);

  async function render(accountId: string, query: PageQuery, problem?: string): Promise<string | null> {
    const asked = readUsageAsked(query);
    const view = await readUsageView(context, accountId, asked);
    const [keys, balance, used] = await Promise.all([
      listKeys(storage, accountId),
      balanceOf(storage, accountId),
      usageReport(storage, accountId, { from: view.from, to: view.to, groupBy: 'surface', filter: {} }),
    ]);
    const surfaces = used.groups.map(({ group }) => group);
    return balance && usagePage(facts.baseUrl, { asked, view, keys, surfaces, balance, ...(problem && { problem }) });
  }

  serveAccountPage(app, facts, {
    path: USAGE_PATH,
    operationId: 'getDashboardUsage',
    summary: 'Usage page of the dashboard',
    query: USAGE_QUERY,
    render,
  });

  app.get<{ Querystring: ExportQuery }>(
    `${USAGE_PATH}/export`,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'exportDashboardUsage',
        tags: ['System'],
        summary: 'Usage as a file',
        security: access.session,
        querystring: Type.Object({
          ...describedTexts(USAGE_QUERY),
          format: Type.Union([Type.Literal('csv'), Type.Literal('json')]),
        }),
        response: {
          200: { ...textAnswer('The figures.', 'text/csv'), content: EXPORTED },
          ...errors('authentication_required', 'invalid_preset'),
        },
      },
    },
    async (request, reply) => {
      const { format, ...query } = request.query;
      const view = await readUsageView(context, accountOf(request), readUsageAsked(query));
      reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json; charset=utf-8')
        .headers({
          'cache-control': 'no-store',
          'content-disposition': `attachment; filename="usage-${view.from}-${view.to}.${format}"`,
        });
      return format === 'csv' ? usageViewCsv(view) : JSON.stringify(view);
    },
  );

  app.post<{ Body: FormBody }>(
    `${USAGE_PATH}/low-balance`,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendLowBalance',
        tags: ['System'],
        summary: 'Low balance form',
        security: access.sessionOptional,
        response: {
          303: redirect('Redirects to the usage page.'),
          ...orPage(
            errors('authentication_required', 'forbidden_origin', 'payload_too_large', 'unsupported_media_type'),
          ),
        },
      },
    },
    async ({ principal, body }, reply) => {
      const page = () => reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
      if (!principal) return page().code(401).send(signIn);
      const [amount = ''] = valuesOf(body, 'amount');
      const lowU = amountOf(amount);
      if (lowU === undefined)
        return page()
          .code(400)
          .send((await render(principal.accountId, {}, WRONG)) ?? signIn);
      await setLowBalance(storage, principal.accountId, lowU);
      return reply.redirect(`${config.baseUrl}${USAGE_PATH}#low-balance`, 303);
    },
  );
}

const WRONG = `Enter an amount in dollars, at most ${LIMITS.low_balance_usd.toLocaleString('en-US')}, or leave the field empty.`;

/** Micro-USD; null for an empty field, undefined if the text is not an amount. */
function amountOf(text: string): bigint | null | undefined {
  const amount = text.trim().replace(/^\$/, '');
  if (amount === '') return null;
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(amount) || Number(amount) === 0) return undefined;
  return Number(amount) > LIMITS.low_balance_usd ? undefined : BigInt(Math.round(Number(amount) * 1_000_000));
}

const EXPORTED = {
  'text/csv': { schema: Type.String() },
  'application/json': {
    schema: Type.Object({
      from: Type.String(),
      to: Type.String(),
      by: Type.String(),
      total: Type.Ref(UsageFigures),
      previous: Type.Object({}),
      groups: Type.Array(Type.Ref(UsageGroup)),
      days: Type.Array(Type.Object({ day: Type.String(), parts: Type.Array(Type.Number()) })),
    }),
  },
};
