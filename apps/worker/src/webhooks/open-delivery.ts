import { messageSender, openSecretBox, receiverRules } from '@eloquentpoll/webhooks';
import type { Config } from '../config.ts';
import type { OpenContext } from '../context.ts';
import { deliverWebhooks } from './deliver-webhooks.ts';

/** Null if no webhooks are sent. */
export function openWebhookDelivery(
  { webhooks }: Config,
  { workerId, log, resources: { storage, metrics } }: OpenContext,
): AsyncDisposable | null {
  if (!webhooks) return null;
  const { sealingKeys, baseUrl, concurrency } = webhooks;
  const box = openSecretBox(sealingKeys);
  const send = messageSender({ rules: receiverRules(webhooks) });
  return deliverWebhooks({ storage, workerId, box, send, baseUrl, concurrency, metrics, log });
}
