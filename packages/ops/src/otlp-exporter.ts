import type { Counter } from './cells.ts';
import type { TraceSettings } from './trace-settings.ts';
import type { Attributes, FinishedSpan, SpanKind } from './tracer.ts';

// Sends spans to an OpenTelemetry collector as OTLP over HTTP in JSON, which needs few lines, while the SDK needs 24
// MB. The queue is bounded and sent in batches. If the collector does not answer, spans are dropped after one retry.

const MAX_WAITING = 4_096;
const BATCH = 512;
const EVERY_MS = 1_000;
const TIMEOUT_MS = 5_000;
const RETRY_PAUSE_MS = 500;

export interface Exporter {
  export(span: FinishedSpan): void;
  /** Sends queued spans. Each request has a timeout. */
  close(): Promise<void>;
}

export function otlpExporter(settings: TraceSettings, dropped: Counter): Exporter {
  let waiting: FinishedSpan[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> = Promise.resolve();
  let closed = false;

  async function post(spans: readonly FinishedSpan[]): Promise<boolean> {
    const response = await fetch(settings.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...settings.headers },
      body: JSON.stringify(requestOf(settings.resource, spans)),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      let taken = await post(batch).catch(() => false);
      if (!taken && !closed) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS).unref());
        taken = await post(batch).catch(() => false);
      }
      if (!taken) dropped.n += batch.length;
    }
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = null;
      sending = sending.then(flush);
    }, EVERY_MS).unref();
  }

  return {
    export(span) {
      if (closed || waiting.length >= MAX_WAITING) {
        dropped.n += 1;
        return;
      }
      waiting.push(span);
      schedule();
    },
    async close() {
      closed = true;
      if (timer) clearTimeout(timer);
      await sending;
      await flush();
    },
  };
}

const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, consumer: 5 };
const ERROR = 2;

function requestOf(resource: Attributes, spans: readonly FinishedSpan[]) {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'eloquentpoll' }, spans: spans.map(wireSpan) }],
      },
    ],
  };
}

function wireSpan({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, error }: FinishedSpan) {
  return {
    traceId,
    spanId,
    ...(parentId && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: keyValues(attributes),
    ...(error !== null && { status: { code: ERROR, message: error } }),
  };
}

/** Nanoseconds do not fit a double exactly, so they are computed in two parts. */
const nanos = (ms: number): string => `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1e6)).padStart(6, '0')}`;

const keyValues = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: wireValue(value) }));

function wireValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
