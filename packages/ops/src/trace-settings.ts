import type { Attributes } from './tracer.ts';

// What OpenTelemetry's own variables ask for, as far as we follow them; they are named in the README.

export interface TraceSettings {
  url: string;
  headers: Readonly<Record<string, string>>;
  share: number;
  resource: Attributes;
}

export interface TraceEnvironment {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_EXPORTER_OTLP_PROTOCOL?: string | undefined;
  OTEL_SERVICE_NAME?: string | undefined;
  OTEL_RESOURCE_ATTRIBUTES?: string | undefined;
  OTEL_TRACES_SAMPLER_ARG?: string | undefined;
}

/** Which variable is wrong, and how. */
export class TraceSettingError extends Error {
  readonly variable: keyof TraceEnvironment;

  constructor(variable: keyof TraceEnvironment, problem: string) {
    super(problem);
    this.variable = variable;
  }
}

/** Null where no collector is named. */
export function traceSettings(env: TraceEnvironment, service: string, version: string): TraceSettings | null {
  const url = tracesUrl(env);
  if (url === null) return null;
  const protocol = env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/json';
  if (protocol !== 'http/json')
    throw new TraceSettingError('OTEL_EXPORTER_OTLP_PROTOCOL', 'must be http/json, the only one that is spoken here');
  return {
    url,
    headers: pairs(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    share: shareOf(env),
    resource: {
      ...pairs(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      'service.name': env.OTEL_SERVICE_NAME ?? `eloquentpoll-${service}`,
      'service.version': version,
    },
  };
}

function tracesUrl(env: TraceEnvironment): string | null {
  const whole = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (whole !== undefined) return httpUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', whole).href;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (base === undefined) return null;
  const url = httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

function httpUrl(variable: keyof TraceEnvironment, text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TraceSettingError(variable, 'must be a URL such as http://collector:4318');
  return url;
}

/** `key=value,key=value`, percent-encoded. */
function pairs(
  env: TraceEnvironment,
  variable: 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES',
): Record<string, string> {
  const entries = (env[variable] ?? '').split(',').filter((entry) => entry.trim() !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      if (at < 1) throw new TraceSettingError(variable, 'must be pairs such as key=value, separated by commas');
      return [entry.slice(0, at).trim(), decoded(entry.slice(at + 1).trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shareOf({ OTEL_TRACES_SAMPLER_ARG: text = '1' }: TraceEnvironment): number {
  const share = /^(0|1|0?\.\d+|1\.0+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(share >= 0 && share <= 1))
    throw new TraceSettingError('OTEL_TRACES_SAMPLER_ARG', `must be a share from 0 to 1, not "${text}"`);
  return share;
}
