import { KeyParams, LIMITS } from '@eloquentpoll/contracts';
import { listKeys } from '@eloquentpoll/storage';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createKey } from '../../accounts/keys/issue-key.ts';
import { isKeyId, revokeKeyEverywhere } from '../../accounts/keys/revoke-key.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import type { PagesContext } from '../context.ts';
import { newKeyPage, revokeKeyPage } from '../dashboard/key-pages.ts';
import { KEYS_PATH, keysPage } from '../dashboard/keys-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';
import { serveAccountPage } from './serve-account-page.ts';

const FORM_ERRORS = orPage(
  errors('authentication_required', 'forbidden_origin', 'payload_too_large', 'unsupported_media_type'),
);
const BACK = redirect('Back to the keys.');
const REVOKE = `${KEYS_PATH}/:keyId/revoke` as const;

/**
 * Keys on their page of the dashboard, by forms for browsers without scripts; POST and DELETE of /api/keys for everything else. A new
 * key stands on the page that answers its form and on no other.
 */
export async function dashboardKeyRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { config, storage } = context;
  const signIn = signInPage(facts);
  const toKeys = (reply: FastifyReply) => reply.redirect(`${config.baseUrl}${KEYS_PATH}`, 303);
  const page = (reply: FastifyReply) => reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
  const askToSignIn = (reply: FastifyReply) => page(reply).code(401).send(signIn);
  takeForms(app);

  serveAccountPage(app, facts, {
    path: KEYS_PATH,
    operationId: 'getDashboardKeys',
    summary: 'API keys page of the dashboard',
    query: {},
    render: async (accountId) => keysPage(facts.baseUrl, await listKeys(storage, accountId)),
  });

  app.post<{ Body: FormBody }>(
    KEYS_PATH,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendNewKey',
        tags: ['Account'],
        summary: 'New key form',
        security: access.sessionOptional,
        response: { 201: textAnswer('The page that shows the key, once.', 'text/html'), 303: BACK, ...FORM_ERRORS },
      },
    },
    async ({ principal, body }, reply) => {
      if (!principal) return askToSignIn(reply);
      const [label = ''] = valuesOf(body, 'label');
      if ([...label].length > LIMITS.key_label) throw new ApiError('validation_error', { detail: TOO_LONG });
      const { key } = await createKey(context, { accountId: principal.accountId, label });
      return page(reply).code(201).send(newKeyPage(facts.baseUrl, key));
    },
  );

  app.get<{ Params: KeyParams }>(
    REVOKE,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getKeyRevocation',
        tags: ['Account'],
        summary: 'Key revocation page',
        security: access.sessionOptional,
        params: KeyParams,
        response: {
          200: textAnswer('The question.', 'text/html'),
          303: BACK,
          ...orPage(errors('authentication_required')),
        },
      },
    },
    async ({ principal, params }, reply) => {
      if (!principal) return askToSignIn(reply);
      const keys = await listKeys(storage, principal.accountId);
      const key = keys.find(({ id, revokedAt }) => id === params.keyId && revokedAt === null);
      return key ? page(reply).send(revokeKeyPage(facts.baseUrl, key)) : toKeys(reply);
    },
  );

  app.post<{ Params: KeyParams }>(
    REVOKE,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendKeyRevocation',
        tags: ['Account'],
        summary: 'Key revocation form',
        security: access.sessionOptional,
        params: KeyParams,
        response: { 303: BACK, ...FORM_ERRORS },
      },
    },
    async ({ principal, params: { keyId } }, reply) => {
      if (!principal) return askToSignIn(reply);
      // A key that does not exist, or was revoked before, counts as done.
      if (isKeyId(keyId)) await revokeKeyEverywhere(context, principal.accountId, keyId);
      return toKeys(reply);
    },
  );
}

const TOO_LONG = `A label has at most ${LIMITS.key_label} characters.`;
