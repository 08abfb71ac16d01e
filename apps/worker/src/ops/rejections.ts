import type { Rejection } from '@eloquentpoll/models/ask';
import type { Metrics } from '@eloquentpoll/ops';

interface Log {
  error(fields: object, event: string): void;
}

/** Logs and counts once what an operator has to fix. The log line contains neither the question nor the key. */
export function rejectionReport(log: Log, metrics: Pick<Metrics, 'counter'>): (rejection: Rejection) => void {
  return ({ provider, modelId: model, status, field, change }) => {
    if (field === null) {
      metrics.counter('eloquentpoll_provider_access_refused_total', provider, model).n += 1;
      return log.error({ provider, status, change }, 'provider.access_refused');
    }
    metrics.counter('eloquentpoll_provider_fields_rejected_total', model, field).n += 1;
    log.error({ provider, model, field, change }, 'provider.field_rejected');
  };
}
