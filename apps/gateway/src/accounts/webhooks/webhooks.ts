import { createHash, randomUUID } from 'node:crypto';
import { ACCOUNT_ENDPOINT, type Issue } from '@eloquentpoll/contracts';
import type { WebhookSettings } from '@eloquentpoll/ops/settings';
import { ensureAccountEndpoint, findWebhookEndpoint, type StoredWebhookEndpoint } from '@eloquentpoll/storage';
import {
  newWebhookSecret,
  openSecretBox,
  type ReceiverRules,
  receiverRules,
  type SecretBox,
  urlProblem,
} from '@eloquentpoll/webhooks';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';

/** The parts of an installation with webhooks. */
export interface Webhooks {
  rules: ReceiverRules;
  box: SecretBox;
  /** Accounts that are known to have the endpoint that represents webhook_url. */
  prepared: Set<string>;
}

const MAX_PREPARED = 10_000;

export const openWebhooks = (settings: WebhookSettings | null): Webhooks | null =>
  settings && { rules: receiverRules(settings), box: openSecretBox(settings.sealingKeys), prepared: new Set() };

export function webhooksOf({ webhooks }: Pick<AccountsContext, 'webhooks'>): Webhooks {
  if (!webhooks) throw new ApiError('not_configured', { detail: 'Webhooks are not set up here.' });
  return webhooks;
}

/** What is wrong with an address for webhooks, as issues of the field that contains it. */
export function receiverIssues({ rules }: Webhooks, field: string, url: string): Issue[] {
  const problem = urlProblem(url, rules);
  return problem === null ? [] : [{ pointer: `#/${field}`, detail: `${field} ${problem}` }];
}

/** A new id, or the id that belongs to the form, and a secret in plaintext and sealed. */
export function newEndpoint({ box }: Webhooks, form?: { accountId: string; formId: string }) {
  const digits = form
    ? createHash('sha256').update(`endpoint of form ${form.accountId} ${form.formId}`).digest('hex').slice(0, 32)
    : randomUUID().replaceAll('-', '');
  const id = `we_${digits}`;
  const secret = newWebhookSecret();
  return { id, secret, sealed: box.seal(secret, id) };
}

/** Call it before storing a poll or batch with a webhook_url: the account needs a secret for signatures. */
export async function prepareAccountEndpoint(
  context: Pick<AccountsContext, 'webhooks' | 'storage'>,
  accountId: string,
): Promise<void> {
  const webhooks = webhooksOf(context);
  const { prepared } = webhooks;
  if (prepared.has(accountId)) return;
  const { id, sealed } = newEndpoint(webhooks);
  await ensureAccountEndpoint(context.storage, accountId, { id, secret: sealed });
  if (prepared.size >= MAX_PREPARED) prepared.clear();
  prepared.add(accountId);
}

const ENDPOINT_ID = /^we_[0-9a-f]{32}$/;

/** Finds an endpoint by its id, or the one that represents webhook_url, which is created if the account has none. */
export async function endpointOf(
  context: Pick<AccountsContext, 'webhooks' | 'storage'>,
  accountId: string,
  endpointId: string,
): Promise<StoredWebhookEndpoint> {
  webhooksOf(context);
  const isAccount = endpointId === ACCOUNT_ENDPOINT;
  if (isAccount) await prepareAccountEndpoint(context, accountId);
  else if (!ENDPOINT_ID.test(endpointId)) throw new ApiError('webhook_endpoint_not_found');
  const found = await findWebhookEndpoint(context.storage, accountId, isAccount ? null : endpointId);
  if (!found) throw new ApiError('webhook_endpoint_not_found');
  return found;
}
