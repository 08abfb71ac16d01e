import { randomBytes } from 'node:crypto';

// Traces in the form of W3C Trace Context. Without export there is no tracer, so tracing costs nothing. Spans contain
// ids, names of operations and models, and codes; never a question, answer, key or account.

export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface FinishedSpan {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  kind: SpanKind;
  /** Milliseconds since the epoch. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** An error code, or null. */
  error: string | null;
}

export interface Span {
  /** The header for the next service or process. */
  readonly traceparent: string;
  end(attributes?: Attributes, error?: string | null): void;
}

export interface Tracer extends AsyncDisposable {
  /** Without a valid parent, a new trace starts. */
  start(name: string, kind: SpanKind, parent?: string | null, attributes?: Attributes): Span;
}

export interface TracerOptions {
  /** The share of traces started here that are kept. For traces started elsewhere, the decision was made there. */
  share: number;
  export(span: FinishedSpan): void;
  close(): Promise<void>;
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

export function openTracer({ share, export: keep, close }: TracerOptions): Tracer {
  return {
    start(name, kind, parent, attributes = {}) {
      const [, traceId = hex(16), parentId = null, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
      const sampled = flags === undefined ? Math.random() < share : (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
      const spanId = hex(8);
      const startMs = nowMs();
      let open = true;
      return {
        traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
        end(more = {}, error = null) {
          if (!open || !sampled) return;
          open = false;
          const all = { ...attributes, ...more };
          keep({ traceId, spanId, parentId, name, kind, startMs, endMs: nowMs(), attributes: all, error });
        },
      };
    },
    [Symbol.asyncDispose]: close,
  };
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Like Date.now, with a finer resolution. */
const nowMs = (): number => performance.timeOrigin + performance.now();
