import type { Metrics } from './metrics.ts';
import type { TraceSettings } from './trace-settings.ts';
import type { Tracer } from './tracer.ts';

/** Null if no collector is configured. Then the tracing code is not even loaded. */
export async function openTracing(metrics: Metrics, settings: TraceSettings | null): Promise<Tracer | null> {
  const dropped = metrics.counter('eloquentpoll_spans_dropped_total');
  if (!settings) return null;
  const [{ otlpExporter }, { openTracer }] = await Promise.all([import('./otlp-exporter.ts'), import('./tracer.ts')]);
  return openTracer({ share: settings.share, ...otlpExporter(settings, dropped) });
}
