import { createHash } from 'node:crypto';
import { LIMITS, WEBHOOK_EVENT_TYPES, type WebhookEndpointRequest } from '@eloquentpoll/contracts';
import {
  changeWebhookEndpoint,
  type EndpointChange,
  findDelivery,
  insertWebhookEndpoint,
  removeWebhookEndpoint,
  resendDelivery,
  rotateWebhookSecret,
  type StoredDelivery,
  type StoredWebhookEndpoint,
  testWebhookEndpoint,
} from '@eloquentpoll/storage';
import { newWebhookSecret } from '@eloquentpoll/webhooks';
import { ApiError, invalid } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { endpointOf, newEndpoint, receiverIssues, webhooksOf } from './webhooks.ts';

// Changes of endpoints, for the API and the pages.

type Parts = Pick<AccountsContext, 'webhooks' | 'storage'>;

/** The absolute URL as the URL parser writes it, so that the checked address is the one used for sending. */
function readReceiver(context: Parts, url: string): string {
  const issues = receiverIssues(webhooksOf(context), 'url', url);
  if (issues.length > 0) throw invalid(issues);
  return new URL(url).href;
}

/** `formId` is the random id of a form: if it is sent twice, one endpoint is made. */
export async function addEndpoint(
  context: Parts,
  accountId: string,
  { url, event_types: eventTypes = [...WEBHOOK_EVENT_TYPES], description = '' }: WebhookEndpointRequest,
  formId?: string,
): Promise<{ endpoint: StoredWebhookEndpoint; secret: string }> {
  const { id, sealed } = newEndpoint(webhooksOf(context), formId === undefined ? undefined : { accountId, formId });
  if (eventTypes.length === 0)
    throw invalid([{ pointer: '#/event_types', detail: 'event_types must name at least one' }]);
  const receiver = readReceiver(context, url);
  const endpoint = { id, url: receiver, description, eventTypes, secret: sealed };
  if (!(await insertWebhookEndpoint(context.storage, accountId, endpoint)))
    throw new ApiError('webhook_limit_reached', {
      detail: `An account has at most ${LIMITS.webhooks.endpoints} webhook endpoints.`,
    });
  return withSecret(context, accountId, id);
}

/** The endpoint that represents webhook_url cannot be changed: it has no address or event types of its own. */
export async function changeEndpoint(
  context: Parts,
  accountId: string,
  endpointId: string,
  { url, ...change }: EndpointChange,
): Promise<StoredWebhookEndpoint> {
  const receiver = url === undefined ? undefined : readReceiver(context, url);
  const { id } = await endpointOf(context, accountId, endpointId);
  if (!(await changeWebhookEndpoint(context.storage, accountId, id, { ...change, url: receiver })))
    throw new ApiError('webhook_endpoint_not_found');
  return endpointOf(context, accountId, id);
}

export async function removeEndpoint(context: Parts, accountId: string, endpointId: string): Promise<void> {
  const { id } = await endpointOf(context, accountId, endpointId);
  if (!(await removeWebhookEndpoint(context.storage, accountId, id))) throw new ApiError('webhook_endpoint_not_found');
}

export async function secretOf(context: Parts, endpoint: StoredWebhookEndpoint): Promise<string> {
  return webhooksOf(context).box.open(endpoint.secret, endpoint.id);
}

/** Reads the stored secret: of two simultaneous submissions of one form, only one is stored. */
async function withSecret(context: Parts, accountId: string, id: string) {
  const endpoint = await endpointOf(context, accountId, id);
  return { endpoint, secret: await secretOf(context, endpoint) };
}

/** Identifies the secret that a form replaces, so that a repeated form replaces none. It does not reveal the secret. */
export const nameOfSecret = ({ secret }: StoredWebhookEndpoint): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 32);

/** With `replaces`, only if the endpoint still has the secret with that name. */
export async function rotateSecret(
  context: Parts,
  accountId: string,
  endpointId: string,
  overlapS: number = LIMITS.webhooks.overlap_s.default,
  replaces?: string,
): Promise<{ endpoint: StoredWebhookEndpoint; secret: string }> {
  const before = await endpointOf(context, accountId, endpointId);
  const { id } = before;
  const sealed = webhooksOf(context).box.seal(newWebhookSecret(), id);
  const isMeant = replaces === undefined || replaces === nameOfSecret(before);
  if (isMeant)
    await rotateWebhookSecret(context.storage, accountId, {
      ...{ id, secret: sealed, overlapS },
      ...(replaces !== undefined && { replaces: before.secret }),
    });
  return withSecret(context, accountId, id);
}

export async function sendTest(context: Parts, accountId: string, endpointId: string): Promise<StoredDelivery> {
  const { id, url, disabledAt } = await endpointOf(context, accountId, endpointId);
  if (url === null) throw invalid([{ pointer: '#/endpoint_id', detail: NO_ADDRESS }]);
  const delivery = disabledAt ? null : await testWebhookEndpoint(context.storage, accountId, id);
  if (delivery === null) throw new ApiError('webhook_disabled');
  const sent = await findDelivery(context.storage, accountId, id, delivery);
  // It goes only together with its endpoint, which was removed meanwhile.
  if (!sent) throw new ApiError('webhook_endpoint_not_found');
  return sent;
}

const NO_ADDRESS = 'the endpoint that stands for webhook_url has no address of its own; send a poll with webhook_url';

export interface DeliveryIds {
  endpointId: string;
  deliveryId: string;
}

/** A delivery in progress counts as sent again. */
export async function sendAgain(context: Parts, accountId: string, ids: DeliveryIds): Promise<StoredDelivery> {
  const { id } = await endpointOf(context, accountId, ids.endpointId);
  const outcome = await resendDelivery(context.storage, accountId, id, ids.deliveryId);
  if (outcome === 'disabled') throw new ApiError('webhook_disabled');
  const found = await findDelivery(context.storage, accountId, id, ids.deliveryId);
  if (!found) throw new ApiError('webhook_delivery_not_found');
  return found;
}
