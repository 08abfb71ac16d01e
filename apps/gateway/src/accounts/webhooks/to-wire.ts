import { ACCOUNT_ENDPOINT, type WebhookDelivery, type WebhookEndpoint } from '@eloquentpoll/contracts';
import type { StoredDelivery, StoredWebhookEndpoint } from '@eloquentpoll/storage';

const time = (date: Date | null): string | null => date?.toISOString() ?? null;

export const toWebhookEndpoint = (endpoint: StoredWebhookEndpoint): WebhookEndpoint => ({
  endpoint_id: endpoint.url === null ? ACCOUNT_ENDPOINT : endpoint.id,
  url: endpoint.url,
  event_types: [...endpoint.eventTypes],
  description: endpoint.description,
  status: endpoint.disabledAt ? 'disabled' : 'enabled',
  disabled_reason: endpoint.disabledWhy,
  disabled_at: time(endpoint.disabledAt),
  failing_since: time(endpoint.failingSince),
  pending: endpoint.pending,
  skipped: endpoint.skipped,
  previous_secret_until: time(endpoint.previousUntil),
  created_at: endpoint.createdAt.toISOString(),
});

export const toWebhookDelivery = (delivery: StoredDelivery): WebhookDelivery => ({
  delivery_id: delivery.id,
  event_id: delivery.eventId,
  type: delivery.type,
  url: delivery.url,
  status: delivery.status,
  attempts: delivery.attempts,
  last_attempts: [...delivery.log],
  next_attempt_at: time(delivery.nextAttemptAt),
  created_at: delivery.createdAt.toISOString(),
  ended_at: time(delivery.endedAt),
  data: delivery.data,
});
