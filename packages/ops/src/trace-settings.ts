import type { SHARED_SETTINGS } from './settings/shared-table.ts';
import { SettingError, type Values } from './settings/table.ts';
import type { Attributes } from './tracer.ts';

// The part of OpenTelemetry's standard variables that is supported.

export interface TraceSettings {
  url: string;
  headers: Readonly<Record<string, string>>;
  share: number;
  resource: Attributes;
}

type TraceValues = Pick<Values<typeof SHARED_SETTINGS>, Extract<keyof typeof SHARED_SETTINGS, `OTEL_${string}`>>;

/** Null if no collector is configured. */
export function traceSettings(values: TraceValues, service: string, version: string): TraceSettings | null {
  const url = tracesUrl(values);
  if (url === null) return null;
  // Ignored without a collector, because the variable may be set for other programs on this machine.
  if (values.OTEL_EXPORTER_OTLP_PROTOCOL !== 'http/json')
    throw new SettingError('OTEL_EXPORTER_OTLP_PROTOCOL', 'must be http/json, the only one that is spoken here');
  return {
    url,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    share: values.OTEL_TRACES_SAMPLER_ARG,
    resource: {
      ...values.OTEL_RESOURCE_ATTRIBUTES,
      'service.name': values.OTEL_SERVICE_NAME ?? `eloquentpoll-${service}`,
      'service.version': version,
    },
  };
}

function tracesUrl(values: TraceValues): string | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = values;
  if (whole !== undefined) return new URL(whole).href;
  if (base === undefined) return null;
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}
