import type { Metrics } from '@eloquentpoll/ops';
import { readWebhookFigures, type Storage } from '@eloquentpoll/storage';

// Webhooks of the whole fleet. A worker without sealing keys, which sends none, shows them too: that no worker sends is
// what the alarm WebhooksLate is for.

export function webhookFigures(metrics: Pick<Metrics, 'reading'>, storage: Storage): void {
  metrics.reading('eloquentpoll_webhooks_pending', async () => (await readWebhookFigures(storage)).pending);
  metrics.reading('eloquentpoll_webhooks_late_seconds', async () => {
    const { oldestDueAt } = await readWebhookFigures(storage);
    return oldestDueAt ? Math.max(0, Date.now() - oldestDueAt.getTime()) / 1_000 : 0;
  });
}
