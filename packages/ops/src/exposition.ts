import { Histogram } from './cells.ts';
import type { Metric } from './metric-table.ts';
import type { Sample } from './metrics.ts';

// The text format of Prometheus, version 0.0.4.

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function exposition(name: string, metric: Metric, samples: readonly Sample[]): string {
  const lines = [`# HELP ${name} ${metric.help.replaceAll('\\', '\\\\')}`, `# TYPE ${name} ${metric.type}`];
  for (const { labels, value } of samples) {
    const pairs = metric.labels.map((label, i) => `${label}="${escaped(labels[i] ?? '')}"`);
    if (value instanceof Histogram) lines.push(...histogramLines(name, pairs, value));
    else lines.push(`${name}${braces(pairs)} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function histogramLines(name: string, pairs: readonly string[], { bounds, counts, sum }: Histogram): string[] {
  let below = 0;
  const lines = [...bounds, Number.POSITIVE_INFINITY].map((bound, i) => {
    below += counts[i]!;
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound);
    return `${name}_bucket${braces([...pairs, `le="${le}"`])} ${below}`;
  });
  return [...lines, `${name}_sum${braces(pairs)} ${sum}`, `${name}_count${braces(pairs)} ${below}`];
}

const braces = (pairs: readonly string[]): string => (pairs.length > 0 ? `{${pairs.join(',')}}` : '');

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
