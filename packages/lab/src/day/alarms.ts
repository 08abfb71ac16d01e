import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';

// Reads the day from a real Prometheus: the alarms that fired, and the curve of any expression.

export interface AlarmsOfDay {
  readonly rules: number;
  readonly fired: readonly string[];
  readonly pending: readonly string[];
  /** Rules that Prometheus failed to evaluate. */
  readonly failing: readonly string[];
}

export interface Curve {
  readonly labels: Readonly<Record<string, string>>;
  /** Unix time in seconds, and the value. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

export interface DaySpan {
  readonly from: Date;
  readonly to: Date;
}

const Rules = Type.Object({
  data: Type.Object({
    groups: Type.Array(
      Type.Object({
        rules: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), health: Type.String() })),
      }),
    ),
  }),
});
const Range = Type.Object({
  data: Type.Object({
    result: Type.Array(
      Type.Object({
        metric: Type.Record(Type.String(), Type.String()),
        values: Type.Array(Type.Tuple([Type.Number(), Type.String()])),
      }),
    ),
  }),
});

const WITHIN_MS = 30_000;
const MAX_POINTS = 2_000;

export async function readAlarms(url: string, span: DaySpan): Promise<AlarmsOfDay> {
  const { data } = readJson(Rules, await textOf(`${url}/api/v1/rules`));
  const rules = data.groups.flatMap((group) => group.rules);
  const seconds = (span.to.getTime() - span.from.getTime()) / 1_000;
  const curves = await readCurves(url, 'ALERTS', { ...span, stepS: Math.max(5, Math.ceil(seconds / MAX_POINTS)) });
  const named = (state: string) => [
    ...new Set(curves.filter(({ labels }) => labels.alertstate === state).map(({ labels }) => labels.alertname!)),
  ];
  return {
    rules: rules.filter(({ type }) => type === 'alerting').length,
    fired: named('firing'),
    pending: named('pending'),
    failing: rules.filter(({ health }) => health === 'err').map(({ name }) => name),
  };
}

export async function readCurves(
  url: string,
  expr: string,
  { from, to, stepS }: DaySpan & { stepS: number },
): Promise<Curve[]> {
  const query = new URLSearchParams({
    query: expr,
    start: `${from.getTime() / 1_000}`,
    end: `${to.getTime() / 1_000}`,
    step: `${stepS}`,
  });
  const { data } = readJson(Range, await textOf(`${url}/api/v1/query_range?${query}`));
  return data.result.map(({ metric, values }) => ({
    labels: metric,
    points: values.map(([at, value]) => [at, Number(value)] as const).filter(([, value]) => Number.isFinite(value)),
  }));
}

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Prometheus answered ${answer.status}: ${text.slice(0, 300)}`);
  return text;
}
