import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { parser } from '@prometheus-io/lezer-promql';
import { Type } from '@sinclair/typebox';
import { parse } from 'yaml';

// Evaluates an alarm of the rule file over two scrapes, as Prometheus would over the time between them. Supports the
// part of its language that the alarms about money and absence use, and throws an error for the rest.

type SampleLabels = Readonly<Record<string, string>>;

/** One series at both scrapes; null where it was not there yet, or not any more. */
export interface SampleSeries {
  readonly name: string;
  readonly labels: SampleLabels;
  readonly before: number | null;
  readonly after: number | null;
}

type Sample = { labels: SampleLabels; value: number };
type Value = number | Sample[];
type Node = ReturnType<typeof parser.parse>['topNode'];

const RuleFile = Type.Object({
  spec: Type.Object({
    groups: Type.Array(
      Type.Object({
        rules: Type.Array(
          Type.Object({
            record: Type.Optional(Type.String()),
            alert: Type.Optional(Type.String()),
            expr: Type.String(),
          }),
        ),
      }),
    ),
  }),
});

/** The samples for which the alarm would fire. */
export function firing(alarm: string, series: readonly SampleSeries[]): Sample[] {
  const text = readFileSync(join(root, 'infra/monitoring/prometheus-rule.yaml'), 'utf8');
  const rules = readJson(RuleFile, JSON.stringify(parse(text))).spec.groups.flatMap((group) => group.rules);
  const { expr } = rules.find(({ alert }) => alert === alarm)!;
  const recorded = new Map(rules.flatMap(({ record, expr }) => (record === undefined ? [] : [[record, expr]])));
  const value = evaluate(expr, { recorded, series, at: 'after' });
  return typeof value === 'number' ? [] : value;
}

interface World {
  readonly recorded: ReadonlyMap<string, string>;
  readonly series: readonly SampleSeries[];
  readonly at: 'before' | 'after';
}

function evaluate(expr: string, world: World): Value {
  const text = ({ from, to }: Node) => expr.slice(from, to);
  const child = (node: Node, name: string): Node => {
    const found = node.getChild(name);
    if (!found) throw new Error(`${text(node)} has no ${name}`);
    return found;
  };

  function of(node: Node): Value {
    switch (node.name) {
      case 'ParenExpr':
      case 'FunctionCallBody':
      case 'PromQL':
        return of(node.firstChild!);
      case 'NumberDurationLiteral':
        return Number(text(node));
      case 'VectorSelector':
        return instant(node);
      case 'FunctionCall':
        return call(node);
      case 'AggregateExpr':
        return aggregate(node);
      case 'BinaryExpr':
        return binary(node);
      default:
        throw new Error(`${node.name} is not known here: ${text(node)}`);
    }
  }

  const wantedBy = (selector: Node): ((labels: SampleLabels) => boolean) => {
    const matchers = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
    const wanted = matchers.map((matcher) => {
      if (text(child(matcher, 'MatchOp')) !== '=') throw new Error(`${text(matcher)} is no equality`);
      return [text(child(matcher, 'LabelName')), text(child(matcher, 'StringLiteral')).slice(1, -1)] as const;
    });
    return (labels) => wanted.every(([label, value]) => labels[label] === value);
  };

  const seriesOf = (selector: Node): SampleSeries[] => {
    const name = text(child(selector, 'Identifier'));
    const isWanted = wantedBy(selector);
    return world.series.filter((one) => one.name === name && isWanted(one.labels));
  };

  function instant(node: Node, at = world.at): Sample[] {
    const recorded = world.recorded.get(text(child(node, 'Identifier')));
    if (recorded !== undefined) {
      const isWanted = wantedBy(node);
      return samplesOf(evaluate(recorded, { ...world, at })).filter(({ labels }) => isWanted(labels));
    }
    return seriesOf(node).flatMap(({ labels, [at]: value }) => (value === null ? [] : [{ labels, value }]));
  }

  function call(node: Node): Sample[] {
    const body = child(node, 'FunctionCallBody');
    const inRange = () => child(child(body, 'MatrixSelector'), 'VectorSelector');
    switch (text(child(node, 'FunctionIdentifier'))) {
      case 'increase':
        // A counter that was not there at the first scrape has no increase, however high it begins.
        return seriesOf(inRange()).flatMap(({ labels, before, after }) =>
          before === null ? [] : [{ labels, value: (after ?? before) - before }],
        );
      case 'present_over_time':
        return either(instant(inRange(), 'before'), instant(inRange(), 'after'), same).map(({ labels }) => ({
          labels,
          value: 1,
        }));
      case 'vector':
        return [{ labels: {}, value: Number(text(body.firstChild!)) }];
      default:
        throw new Error(`${text(node)} is not known here`);
    }
  }

  function aggregate(node: Node): Sample[] {
    const operation = text(child(node, 'AggregateOp'));
    const by = child(child(node, 'AggregateModifier'), 'GroupingLabels').getChildren('LabelName').map(text);
    const samples = of(child(node, 'FunctionCallBody'));
    if (typeof samples === 'number') throw new Error(`${text(node)} aggregates a number`);
    const groups = Map.groupBy(samples, ({ labels }) => keyOf(labels, by));
    return [...groups.values()].map((group) => {
      const values = group.map(({ value }) => value);
      const labels = Object.fromEntries(by.map((name) => [name, group[0]!.labels[name] ?? '']));
      return {
        labels,
        value: operation === 'max' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0),
      };
    });
  }

  function binary(node: Node): Value {
    const [left, right] = [of(node.firstChild!), of(node.lastChild!)];
    const operator = text(node.firstChild!.nextSibling!);
    const on = node.getChild('MatchingModifierClause')?.getChild('GroupingLabels')?.getChildren('LabelName').map(text);
    if (operator === 'or') {
      const isSame = on ? (one: Sample, other: Sample) => keyOf(one.labels, on) === keyOf(other.labels, on) : same;
      return either(samplesOf(left), samplesOf(right), isSame);
    }
    if (on) throw new Error(`${text(node)} is not known here`);
    const compute = OPERATORS[operator];
    if (!compute) throw new Error(`${operator} is not known here`);
    if (typeof left === 'number') return samplesOf(right).flatMap((one) => compute(left, one.value, one.labels));
    return left.flatMap((one) => {
      const other = typeof right === 'number' ? right : right.find((candidate) => same(one, candidate))?.value;
      return other === undefined ? [] : compute(one.value, other, one.labels);
    });
  }

  return of(parser.parse(expr).topNode);
}

type Compute = (left: number, right: number, labels: SampleLabels) => Sample[];
const OPERATORS: Readonly<Record<string, Compute>> = {
  '*': (left, right, labels) => [{ labels, value: left * right }],
  '-': (left, right, labels) => [{ labels, value: left - right }],
  '<': (left, right, labels) => (left < right ? [{ labels, value: left }] : []),
  '>': (left, right, labels) => (left > right ? [{ labels, value: left }] : []),
};

function samplesOf(value: Value): Sample[] {
  if (typeof value === 'number') throw new Error('a number stands where samples must');
  return value;
}

const keyOf = (labels: SampleLabels, names: readonly string[]): string =>
  JSON.stringify(names.map((name) => [name, labels[name] ?? '']));
const same = (one: Sample, other: Sample): boolean =>
  keyOf(one.labels, Object.keys(one.labels).toSorted()) === keyOf(other.labels, Object.keys(other.labels).toSorted());

const either = (first: Sample[], second: Sample[], isSame: typeof same): Sample[] => [
  ...first,
  ...second.filter((one) => !first.some((other) => isSame(one, other))),
];

const LINE = /^(\w+)(?:\{([^}]*)\})? (\S+)$/;

/** The samples in the text of a scrape, by name and labels. */
export function readScrape(text: string): Map<string, { name: string; labels: SampleLabels; value: number }> {
  const samples = new Map<string, { name: string; labels: SampleLabels; value: number }>();
  for (const line of text.split('\n')) {
    const [, name, pairs = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = Object.fromEntries([...pairs.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!]));
    samples.set(`${name}{${pairs}}`, { name, labels, value: Number(value) });
  }
  return samples;
}

export const seriesBetween = (before: string, after: string): SampleSeries[] => {
  const first = readScrape(before);
  return [...readScrape(after)].map(([key, { name, labels, value }]) => ({
    name,
    labels,
    before: first.get(key)?.value ?? null,
    after: value,
  }));
};
