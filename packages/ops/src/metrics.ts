import { Counter, Histogram } from './cells.ts';
import { exposition } from './exposition.ts';
import { METRICS, type Metric, type MetricName, type Process } from './metric-table.ts';
import { withTimeout } from './with-timeout.ts';

// The metrics of a process, as listed in the table. Counting increments a cell that its owner keeps, which takes a few
// nanoseconds instead of a library's quarter of a microsecond. Everything else is read at a scrape. Labels are
// type-checked and their number is bounded: label sets beyond the bound share one cell.

type Named<T extends Metric['type']> = {
  [N in MetricName]: (typeof METRICS)[N]['type'] extends T ? N : never;
}[MetricName];

type TextFor<L extends readonly string[]> = { readonly [I in keyof L]: string };
/** One text per label, in the order of the table. */
export type Labels<N extends MetricName> = TextFor<(typeof METRICS)[N]['labels']>;

/** The current value. Null if there is none. */
export type MetricReading<N extends MetricName> =
  Labels<N> extends readonly [] ? number | null : readonly (readonly [labels: Labels<N>, value: number])[];

export interface Metrics {
  readonly process: Process;
  /** The cell for these labels. Keep it where counting must be cheap. */
  counter<N extends Named<'counter'>>(name: N, ...labels: Labels<N>): Counter;
  histogram<N extends Named<'histogram'>>(name: N, ...labels: Labels<N>): Histogram;
  /** Registers a value that is read at each scrape. A reading that throws or takes too long is omitted. */
  reading<N extends Named<'gauge' | 'counter'>>(
    name: N,
    read: () => MetricReading<N> | Promise<MetricReading<N>>,
  ): void;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  /** Metrics of this process for which nothing is registered. */
  unused(): MetricName[];
}

export interface Sample {
  labels: readonly string[];
  value: number | Histogram;
}

interface Cell {
  labels: readonly string[];
  value: Counter | Histogram;
}

/** More than any of our processes needs. Guards against mistakes. */
const MAX_CELLS = 2_000;
const OTHER = 'other';
const READING_TIMEOUT_MS = 2_000;

export function openMetrics(process: Process): Metrics {
  const cells = new Map<MetricName, Map<string, Cell>>();
  const readings = new Map<MetricName, () => unknown>();

  function cell<T extends Counter | Histogram>(name: MetricName, labels: readonly string[], make: () => T): T {
    requireListed(name, process);
    const family = cells.get(name) ?? new Map<string, Cell>();
    cells.set(name, family);
    const key = labels.join('\u0000');
    const known = family.get(key);
    if (known) return known.value as T;
    if (family.size >= MAX_CELLS && labels.some((label) => label !== OTHER)) {
      return cell(
        name,
        labels.map(() => OTHER),
        make,
      );
    }
    const value = make();
    family.set(key, { labels, value });
    return value;
  }

  // Metrics without labels exist from the start, so that their first event is visible as an increase.
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { type, labels, ...metric }: Metric = METRICS[name];
    if (labels.length > 0 || !isOn(name, process)) continue;
    if (type === 'counter' && name.startsWith('eloquentpoll_')) cell(name, [], () => new Counter());
    if (type === 'histogram') cell(name, [], () => new Histogram(metric.buckets ?? []));
  }

  return {
    process,
    counter: (name, ...labels) => cell(name, labels as readonly string[], () => new Counter()),
    histogram: (name, ...labels) => cell(name, labels as readonly string[], () => new Histogram(METRICS[name].buckets)),
    reading(name, read) {
      requireListed(name, process);
      readings.set(name, read);
    },
    async text() {
      const read = new Map<MetricName, Sample[]>();
      await Promise.all([...readings].map(async ([name, reading]) => read.set(name, await samplesOf(reading))));
      const names = Object.keys(METRICS) as MetricName[];
      return names
        .filter((name) => cells.has(name) || readings.has(name))
        .map((name) => {
          const counted = [...(cells.get(name)?.values() ?? [])].map(({ labels, value }) => ({
            labels,
            value: value instanceof Counter ? value.n : value,
          }));
          return exposition(name, METRICS[name], [...counted, ...(read.get(name) ?? [])]);
        })
        .join('');
    },
    unused: () =>
      (Object.keys(METRICS) as MetricName[]).filter(
        (name) => isOn(name, process) && !cells.has(name) && !readings.has(name),
      ),
  };
}

const isOn = (name: MetricName, process: Process): boolean => METRICS[name].on.some((one) => one === process);

function requireListed(name: MetricName, process: Process): void {
  if (!isOn(name, process)) throw new Error(`${name} is not a metric of the ${process}`);
}

async function samplesOf(reading: () => unknown): Promise<Sample[]> {
  try {
    const value = await withTimeout(reading(), READING_TIMEOUT_MS);
    if (typeof value === 'number') return [{ labels: [], value }];
    if (!Array.isArray(value)) return [];
    return (value as [string[], number][]).map(([labels, each]) => ({ labels, value: each }));
  } catch {
    return [];
  }
}
