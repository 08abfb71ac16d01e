import type { Metrics } from '@eloquentpoll/ops';
import { readWebhookFigures, type Storage } from '@eloquentpoll/storage';

// Webhook metrics of the whole fleet. Workers without sealing keys send no webhooks but report these too, so that the
// alarm WebhooksLate also fires when no worker sends.

export function webhookFigures(metrics: Pick<Metrics, 'reading'>, storage: Storage): void {
  metrics.reading('eloquentpoll_webhooks_pending', async () => (await readWebhookFigures(storage)).pending);
  metrics.reading('eloquentpoll_webhooks_late_seconds', async () => {
    const { oldestDueAt } = await readWebhookFigures(storage);
    return oldestDueAt ? Math.max(0, Date.now() - oldestDueAt.getTime()) / 1_000 : 0;
  });
}
