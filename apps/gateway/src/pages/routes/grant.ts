import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createGrant, type GrantRequest, readGrantRequest } from '../../accounts/keys/key-grant.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import type { PagesContext } from '../context.ts';
import { GRANT_PATH, grantPage } from '../dashboard/grant-page.ts';
import { HTML_TYPE, PAGE_HEADERS, PAGE_POLICY } from '../layout.ts';
import { noGrantPage } from '../missing-page.ts';
import { signInPage } from '../sign-in-page.ts';

type Query = Partial<Record<'port' | 'state' | 'challenge' | 'name', string>>;

/** The page where the account's owner grants a command line a key. The answer goes to a loopback address. */
export async function grantRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const page = (reply: FastifyReply, policy = PAGE_POLICY) =>
    reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'content-security-policy': policy, 'cache-control': 'no-store' });
  const field = (description: string) => Type.Optional(Type.String({ description, maxLength: 64 }));
  takeForms(app);

  app.get<{ Querystring: Query }>(
    GRANT_PATH,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getGrant',
        tags: ['Account'],
        summary: 'Command-line login page',
        security: access.sessionOptional,
        querystring: Type.Object({
          port: field('The port on 127.0.0.1 on which the program listens.'),
          state: field('A value that is returned with the code.'),
          challenge: field('SHA-256 of the verifier, as base64url.'),
          name: field('The name of the computer, for the label of the key.'),
        }),
        response: {
          200: textAnswer('The page that asks for permission, or the sign-in page.', 'text/html'),
          ...orPage(errors('validation_error')),
        },
      },
    },
    async ({ principal, query, url, headers }, reply) => {
      const request = readGrantRequest((name) => query[name as keyof Query]);
      if (!request && /text\/html/i.test(headers.accept ?? '')) return page(reply).code(400).send(noGrantPage(facts));
      if (!request) throw malformed();
      if (!principal) return page(reply).send(signInPage(facts, url));
      return page(reply, policyFor(request)).send(grantPage(facts.baseUrl, request));
    },
  );

  app.post<{ Body: FormBody }>(
    GRANT_PATH,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendGrant',
        tags: ['Account'],
        summary: 'Command-line login form',
        security: access.sessionOptional,
        response: {
          303: redirect('Redirects to the program, with a code or an error.'),
          ...orPage(
            errors('authentication_required', 'forbidden_origin', 'payload_too_large', 'unsupported_media_type'),
          ),
        },
      },
    },
    async ({ principal, body }, reply) => {
      const request = readGrantRequest((name) => valuesOf(body, name)[0]);
      if (!request) throw malformed();
      const { accountId, loginId } = principal ?? {};
      if (accountId === undefined || loginId === undefined) return page(reply).code(401).send(signInPage(facts));
      const allowed = valuesOf(body, 'answer')[0] === 'allow';
      const answer = allowed
        ? { code: await createGrant(context, { accountId, loginId }, request) }
        : { error: 'access_denied' };
      const query = new URLSearchParams({ ...answer, state: request.state });
      return reply.header('cache-control', 'no-store').redirect(`${loopbackOf(request)}/?${query}`, 303);
    },
  );
}

const loopbackOf = ({ port }: GrantRequest): string => `http://127.0.0.1:${port}`;

/** The policy must allow the redirect target: browsers apply form-action to redirects that answer a form. */
const policyFor = (request: GrantRequest): string =>
  PAGE_POLICY.replace("form-action 'self'", `form-action 'self' ${loopbackOf(request)}`);

const malformed = (): ApiError =>
  new ApiError('validation_error', { detail: 'Start the login in the terminal: eloquentpoll login.' });
