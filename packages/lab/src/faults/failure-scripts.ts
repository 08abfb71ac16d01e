import type { Failure } from '@eloquentpoll/simulator/app';

// Each way a model can misbehave, with what its vote must then say. `null`: the answer is a vote all the same.

export interface FailureScript {
  readonly name: string;
  readonly failure: Failure;
  readonly error: string | null;
}

export const FAILURE_SCRIPTS: readonly FailureScript[] = [
  { name: '429, no Retry-After', failure: { kind: 'status', status: 429 }, error: 'rate_limited' },
  { name: '429, Retry-After 1 s', failure: { kind: 'status', status: 429, retry_after_s: 1 }, error: 'rate_limited' },
  { name: '429, Retry-After 60 s', failure: { kind: 'status', status: 429, retry_after_s: 60 }, error: 'rate_limited' },
  { name: '500', failure: { kind: 'status', status: 500 }, error: 'provider_error' },
  { name: '503', failure: { kind: 'status', status: 503 }, error: 'provider_error' },
  { name: '529', failure: { kind: 'status', status: 529 }, error: 'provider_error' },
  { name: 'connection reset', failure: { kind: 'reset' }, error: 'provider_error' },
  { name: 'hang before the first byte', failure: { kind: 'hang_before_first_byte' }, error: 'timeout' },
  { name: 'hang after the first byte', failure: { kind: 'hang_after_first_byte' }, error: 'timeout' },
  { name: 'cut in the middle', failure: { kind: 'cut' }, error: 'provider_error' },
  { name: 'HTML page', failure: { kind: 'html' }, error: 'provider_error' },
  { name: 'truncated JSON', failure: { kind: 'truncated_json' }, error: 'provider_error' },
  { name: 'other JSON', failure: { kind: 'wrong_shape' }, error: 'provider_error' },
  { name: 'endless body', failure: { kind: 'huge', bytes: 4_000_000 }, error: 'provider_error' },
  { name: 'error that leaks the key', failure: { kind: 'leak' }, error: 'provider_error' },
  { name: 'wrong tool', failure: { kind: 'wrong_tool' }, error: 'malformed' },
  { name: 'label outside the enum', failure: { kind: 'label_outside_enum' }, error: 'invalid_choice' },
  { name: 'two tool calls', failure: { kind: 'two_tool_calls' }, error: 'malformed' },
  { name: 'refusal', failure: { kind: 'refusal' }, error: 'refusal' },
  { name: 'empty', failure: { kind: 'empty' }, error: 'malformed' },
  { name: 'prose without a vote', failure: { kind: 'prose' }, error: 'malformed' },
  { name: 'out of tokens', failure: { kind: 'length' }, error: 'malformed' },
  { name: 'slow drip', failure: { kind: 'slow_drip', delay_ms: 700, piece_bytes: 16 }, error: 'timeout' },
  { name: 'late answer', failure: { kind: 'late', delay_ms: 10_000 }, error: 'timeout' },
  { name: 'usage missing', failure: { kind: 'missing_usage' }, error: null },
  { name: 'usage times 1000', failure: { kind: 'usage_times', factor: 1_000 }, error: null },
];
