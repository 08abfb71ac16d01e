import { type Static, Type } from '@sinclair/typebox';

// The settings of a simulated model. The schemas validate the control API and the configuration file, and define the
// types for the rest of the simulator.

const closed = { additionalProperties: false };
const Rate = Type.Number({ minimum: 0, maximum: 1 });
const Milliseconds = Type.Integer({ minimum: 0, maximum: 600_000 });

/** Failures of the connection or the server: no answer arrives, or it is broken. */
export const WIRE_FAILURES = [
  'status',
  'reset',
  'cut',
  'hang_before_first_byte',
  'hang_after_first_byte',
  'html',
  'truncated_json',
  'wrong_shape',
  'huge',
  'slow_drip',
  'late',
  'leak',
] as const;
export type WireFailure = (typeof WIRE_FAILURES)[number];

/** Failures of content: an answer arrives, but it is no proper vote, or its usage is wrong. */
export const CONTENT_FAILURES = [
  'wrong_tool',
  'label_outside_enum',
  'two_tool_calls',
  'refusal',
  'empty',
  'prose',
  'length',
  'missing_usage',
  'usage_times',
] as const;
export type ContentFailure = (typeof CONTENT_FAILURES)[number];
export type FailureKind = WireFailure | ContentFailure;

export const isWireFailure = (kind: FailureKind): kind is WireFailure =>
  WIRE_FAILURES.some((candidate) => candidate === kind);

/** A schema for one of these words. */
const literals = <const T extends readonly string[]>(values: T) =>
  Type.Enum(Object.fromEntries(values.map((value) => [value, value])) as Record<T[number], T[number]>);

const failureFields = {
  kind: literals([...WIRE_FAILURES, ...CONTENT_FAILURES]),
  /** `status`: 429, 500, 502, 503, 529 or any other error. */
  status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
  /** `status`: sent as Retry-After. Undefined: no such header. */
  retry_after_s: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
  /** `slow_drip`: the wait between chunks. Otherwise: the wait before anything happens. Never scaled. */
  delay_ms: Type.Optional(Milliseconds),
  /** `slow_drip`: bytes per chunk. */
  piece_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
  /** `huge`: size of the body. */
  bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 })),
  /** `usage_times`: the factor by which the reported usage exceeds the actual one. */
  factor: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
};

export const Failure = Type.Object(failureFields, closed);
export type Failure = Static<typeof Failure>;

const RatedFailure = Type.Object({ ...failureFields, rate: Rate }, closed);

/** One call of a sequence: a regular answer or a failure. */
const Step = Type.Union([Type.Literal('answer'), Failure]);
export type ScriptStep = Static<typeof Step>;

export const VOTERS = ['opinion', 'first', 'last', 'longest', 'obedient', 'recorded'] as const;
export type Voter = (typeof VOTERS)[number];

const scriptFields = {
  /** Random failures. The sum of their rates is at most 1. */
  failures: Type.Optional(Type.Array(RatedFailure, { maxItems: 50 })),
  /** What the next calls do, in order. After that, failures are random. */
  steps: Type.Optional(Type.Array(Step, { maxItems: 1000 })),
  /** Whether `steps` are used once per model or anew in every poll. */
  steps_per: Type.Optional(literals(['model', 'poll'] as const)),
};

export const Script = Type.Object(scriptFields, closed);
export type Script = Static<typeof Script>;

export const Behaviour = Type.Object(
  {
    ...scriptFields,
    voter: Type.Optional(literals(VOTERS)),
    /** Pairwise agreement above chance. 0: models are independent, 1: all agree. */
    agreement: Type.Optional(Rate),
    /** Weight of the model's own noise. 0: always the common favorite, 1: as `agreement` says. */
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    /** Share of questions on which the model has the common opinion. On the others it guesses. */
    skill: Type.Optional(Rate),
    /** Column of the recorded votes. Default: the model's name after `sim/`. */
    recorded_as: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    latency: Type.Optional(
      Type.Object(
        {
          p50_ms: Type.Optional(Milliseconds),
          sigma: Type.Optional(Type.Number({ minimum: 0, maximum: 5 })),
          straggler_rate: Type.Optional(Rate),
          straggler_factor: Type.Optional(Type.Number({ minimum: 1, maximum: 1000 })),
        },
        closed,
      ),
    ),
    price: Type.Optional(
      Type.Object(
        {
          prompt_usd_per_mtok: Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 })),
          completion_usd_per_mtok: Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 })),
        },
        closed,
      ),
    ),
    /** Hidden reasoning tokens, counted as completion tokens. */
    reasoning_tokens: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    /** What it gives as its reason, where one is asked for. Default: thirty plain words. */
    rationale: Type.Optional(Type.String({ minLength: 1, maxLength: 4_000 })),
    /** false: the model is unknown (404). */
    served: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type Behaviour = Static<typeof Behaviour>;

const wireKind = { kind: literals(WIRE_FAILURES) };

export const RegistrySettings = Type.Object(
  {
    failures: Type.Optional(Type.Array(Type.Object({ ...failureFields, ...wireKind, rate: Rate }, closed))),
    steps: Type.Optional(
      Type.Array(Type.Union([Type.Literal('answer'), Type.Object({ ...failureFields, ...wireKind }, closed)])),
    ),
    /** Replaces the simulator's own rows. */
    variants: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 10_000 })),
    /** Omits model_count from the envelope. */
    omit_model_count: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type RegistrySettings = Static<typeof RegistrySettings>;

/** Checks what a schema cannot express. Null if all is well. */
export function contradictionIn(script: Script): string | null {
  const sum = (script.failures ?? []).reduce((total, failure) => total + failure.rate, 0);
  return sum > 1 + 1e-9 ? `failures: the rates add up to ${sum}, more than 1` : null;
}
