import { ERRORS, KeyParams } from '@eloquentpoll/contracts';
import { changeKey, inTransaction, listKeys, readKeySpend, type StoredApiKey } from '@eloquentpoll/storage';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createKey, type IssuedKey } from '../../accounts/keys/issue-key.ts';
import { isKeyId, revokeKeyEverywhere } from '../../accounts/keys/revoke-key.ts';
import { rotateKey } from '../../accounts/keys/rotate-key.ts';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, formIdOf, takeForms, valuesOf } from '../../http/form-bodies.ts';
import type { PagesContext } from '../context.ts';
import { changeKeyPage, newKeyPage, OVERLAPS, revokeKeyPage } from '../dashboard/key-pages.ts';
import { isActive, KEYS_PATH, type KeysShown, keysPage } from '../dashboard/keys-page.ts';
import { type KeyFields, readKeyFields, readKeyTyped } from '../dashboard/read-key-form.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';
import { serveAccountPage } from './serve-account-page.ts';

const FORM_ERRORS = orPage(
  errors('authentication_required', 'forbidden_origin', 'payload_too_large', 'unsupported_media_type'),
);
const BACK = redirect('Redirects to the keys.');
const KEY_SHOWN = textAnswer('The page that shows the key; it is shown only once.', 'text/html');
const ISSUES = { 201: KEY_SHOWN, 303: BACK };
const SHOWN = { 200: textAnswer('The page.', 'text/html'), 303: BACK };
const KEY_PATH = `${KEYS_PATH}/:keyId` as const;

/** How long a repeated form, as after a second click, shows the same new key again. */
const SHOWN_AGAIN_MS = 60_000;

const isShown = (issued: IssuedKey): boolean =>
  !issued.isRepeat || (isActive(issued) && Date.now() - issued.createdAt.getTime() < SHOWN_AGAIN_MS);

const TOO_MANY = Symbol('the account has as many keys as it may have');

function tooManyOrThrow(error: unknown): typeof TOO_MANY {
  if (error instanceof ApiError && error.code === 'key_limit_reached') return TOO_MANY;
  throw error;
}

interface KeyRoute {
  Params: KeyParams;
  Body: FormBody;
}

/** The dashboard pages of keys and their forms. A new key is shown only in the answer to its form. */
export async function dashboardKeyRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { config, storage, keys: keyCache } = context;
  const { baseUrl } = facts;
  const signIn = signInPage(facts, KEYS_PATH);
  const toKeys = (reply: FastifyReply) => reply.redirect(`${config.baseUrl}${KEYS_PATH}`, 303);
  const page = (reply: FastifyReply) => reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
  const askToSignIn = (reply: FastifyReply) => page(reply).code(401).send(signIn);
  takeForms(app);

  async function listPage(accountId: string, refused?: KeysShown['refused']): Promise<string> {
    const [keys, spend] = await Promise.all([listKeys(storage, accountId), readKeySpend(storage, accountId)]);
    return keysPage(baseUrl, { keys, spend, ...(refused && { refused }) });
  }

  const refuse = async (reply: FastifyReply, accountId: string, fields: KeyFields) =>
    page(reply)
      .code(400)
      .send(await listPage(accountId, { fields, problem: ERRORS.key_limit_reached.description }));

  async function activeKey(accountId: string, keyId: string): Promise<StoredApiKey | undefined> {
    return (await listKeys(storage, accountId)).find((key) => key.id === keyId && isActive(key));
  }

  serveAccountPage(app, facts, {
    path: KEYS_PATH,
    operationId: 'getDashboardKeys',
    summary: 'API keys page of the dashboard',
    query: {},
    render: (accountId) => listPage(accountId),
  });

  const operation = (operationId: string, summary: string, response: object, budget: BudgetName = 'account') => ({
    config: { operation: budget },
    schema: {
      operationId,
      tags: ['Account'],
      summary,
      security: access.sessionOptional,
      response: { ...response, ...FORM_ERRORS },
    },
  });
  const ofKey = (operationId: string, summary: string, response: object = SHOWN, budget?: BudgetName) => {
    const { config, schema } = operation(operationId, summary, response, budget);
    return { config, schema: { ...schema, params: KeyParams } };
  };

  app.post<{ Body: FormBody }>(
    KEYS_PATH,
    operation('sendNewKey', 'New key form', ISSUES, 'key_issue'),
    async ({ principal, body }, reply) => {
      if (!principal) return askToSignIn(reply);
      const { accountId } = principal;
      const fields = readKeyFields(body);
      const typed = readKeyTyped(fields);
      if ('problem' in typed)
        return page(reply)
          .code(400)
          .send(await listPage(accountId, { fields, ...typed }));
      const { label, limit, expiresAt, isReadOnly } = typed;
      const terms = {
        ...{ accountId, label, isReadOnly, expiresAt: expiresAt ?? undefined, formId: formIdOf(body) },
        ...(limit.limitU !== null && { limit }),
      };
      const issued = await createKey(context, terms, principal).catch(tooManyOrThrow);
      if (issued === TOO_MANY) return refuse(reply, accountId, fields);
      return isShown(issued) ? page(reply).code(201).send(newKeyPage(baseUrl, issued)) : toKeys(reply);
    },
  );

  /** The page of one active key; redirects to the list if there is no such key. */
  const keyPage =
    (render: (key: StoredApiKey) => string) =>
    async ({ principal, params, url }: FastifyRequest<{ Params: KeyParams }>, reply: FastifyReply) => {
      if (!principal) return page(reply).code(401).send(signInPage(facts, url));
      const key = await activeKey(principal.accountId, params.keyId);
      return key ? page(reply).send(render(key)) : toKeys(reply);
    };

  app.get<{ Params: KeyParams }>(
    KEY_PATH,
    ofKey('getDashboardKey', 'Page of an API key'),
    keyPage((key) => changeKeyPage(baseUrl, key)),
  );

  app.get<{ Params: KeyParams }>(
    `${KEY_PATH}/revoke`,
    ofKey('getKeyRevocation', 'Key revocation page'),
    keyPage((key) => revokeKeyPage(baseUrl, key)),
  );

  app.post<KeyRoute>(
    KEY_PATH,
    ofKey('sendKeyChange', 'Key change form'),
    async ({ principal, params: { keyId }, body }, reply) => {
      if (!principal) return askToSignIn(reply);
      const { accountId } = principal;
      const key = await activeKey(accountId, keyId);
      if (!key) return toKeys(reply);
      const fields = readKeyFields(body);
      const typed = readKeyTyped(fields);
      if ('problem' in typed)
        return page(reply)
          .code(400)
          .send(changeKeyPage(baseUrl, key, { fields, ...typed }));
      const changed = await inTransaction(storage, (tx) => changeKey(tx, { accountId, keyId }, typed));
      if (changed) await keyCache.invalidate(changed.hash);
      return toKeys(reply);
    },
  );

  app.post<KeyRoute>(
    `${KEY_PATH}/rotate`,
    ofKey('sendKeyRotation', 'Key rotation form', ISSUES, 'key_issue'),
    async ({ principal, params: { keyId }, body }, reply) => {
      if (!principal) return askToSignIn(reply);
      const { accountId } = principal;
      const [chosen] = valuesOf(body, 'overlap');
      const overlap = OVERLAPS.find(({ value }) => value === chosen);
      const overlapMs = 1_000 * Number(overlap?.value ?? 86_400);
      const rotated = isKeyId(keyId)
        ? await rotateKey(context, { accountId, keyId, overlapMs, formId: formIdOf(body) }).catch(tooManyOrThrow)
        : null;
      if (rotated === TOO_MANY) return refuse(reply, accountId, readKeyFields(body));
      if (!rotated || !isShown(rotated.issued)) return toKeys(reply);
      const { issued, oldPrefix, oldUntil } = rotated;
      const replaces = { prefix: oldPrefix, until: oldUntil };
      return page(reply)
        .code(201)
        .send(newKeyPage(baseUrl, { ...issued, replaces }));
    },
  );

  app.post<{ Params: KeyParams }>(
    `${KEY_PATH}/revoke`,
    ofKey('sendKeyRevocation', 'Key revocation form', { 303: BACK }),
    async ({ principal, params: { keyId } }, reply) => {
      if (!principal) return askToSignIn(reply);
      // A key that does not exist, or was revoked before, counts as revoked.
      if (isKeyId(keyId)) await revokeKeyEverywhere(context, principal.accountId, keyId);
      return toKeys(reply);
    },
  );
}
