import { type TProperties, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, textAnswer } from '../../http/answers.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';

const MAX_PARAMETER = 200;

export type PageQuery = Readonly<Record<string, string | undefined>>;

export interface AccountPage {
  path: string;
  operationId: string;
  summary: string;
  /** Parameters with descriptions. Any text is accepted; the page handles invalid values. */
  query: Readonly<Record<string, string>>;
  /** Null if the account was deleted meanwhile. */
  render(accountId: string, query: PageQuery): Promise<string | null>;
  /** Where the login leads; by default, to the requested address. */
  afterLogin?(query: PageQuery): string;
}

/** GET route of a page for the signed-in account; others get the sign-in page. Not cacheable. */
export function serveAccountPage(
  app: FastifyInstance,
  facts: Facts,
  { path, operationId, summary, query, render, afterLogin }: AccountPage,
): void {
  app.get<{ Querystring: PageQuery }>(
    path,
    {
      config: { operation: 'account' },
      schema: {
        operationId,
        tags: ['System'],
        summary,
        security: access.sessionOptional,
        querystring: Type.Object(describedTexts(query)),
        response: {
          200: textAnswer('The page, or the sign-in page.', 'text/html'),
          ...errors('account_frozen', ...('preset' in query ? (['invalid_preset'] as const) : [])),
        },
      },
    },
    async ({ principal, query, url }, reply) => {
      reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
      return (principal && (await render(principal.accountId, query))) ?? signInPage(facts, afterLogin?.(query) ?? url);
    },
  );
}

/** Query parameters that accept any text. */
export const describedTexts = (query: Readonly<Record<string, string>>): TProperties =>
  Object.fromEntries(
    Object.entries(query).map(([name, description]) => [
      name,
      Type.Optional(Type.String({ description, maxLength: MAX_PARAMETER })),
    ]),
  );
