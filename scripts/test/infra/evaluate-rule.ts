import { parser } from '@prometheus-io/lezer-promql';

// What a rule says of samples at one moment, as far as rules need it: selectors, rates, aggregations by labels, comparisons,
// arithmetic, `and`, `or`, `unless`. What it does not know it refuses. A counter's sample is its rate.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}
type Vector = Omit<Sample, 'name'>[];
type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

const ARITHMETIC: Record<string, (left: number, right: number) => number> = {
  Add: (left, right) => left + right,
  Sub: (left, right) => left - right,
  Mul: (left, right) => left * right,
  Div: (left, right) => left / right,
};
const COMPARISONS: Record<string, (left: number, right: number) => boolean> = {
  Gtr: (left, right) => left > right,
  Gte: (left, right) => left >= right,
  Lss: (left, right) => left < right,
  Lte: (left, right) => left <= right,
  Eql: (left, right) => left === right,
};
const AGGREGATES: Record<string, (values: number[]) => number> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  count: (values) => values.length,
};
const MATCHES: Record<string, (value: string, wanted: string) => boolean> = {
  '=': (value, wanted) => value === wanted,
  '!=': (value, wanted) => value !== wanted,
  '=~': (value, wanted) => new RegExp(`^(?:${wanted})$`).test(value),
  '!~': (value, wanted) => !new RegExp(`^(?:${wanted})$`).test(value),
};

/** `recorded` has the expressions of figures by name. */
export function evaluateRule(expr: string, samples: Sample[], recorded: ReadonlyMap<string, string>): Vector {
  const textOf = ({ from, to }: SyntaxNode) => expr.slice(from, to);
  const labelsIn = (node: SyntaxNode | null) =>
    (node?.getChild('GroupingLabels')?.getChildren('LabelName') ?? []).map(textOf);

  function evaluate(node: SyntaxNode): Vector | number {
    const { name } = node.type;
    if (name === 'PromQL' || name === 'ParenExpr') return evaluate(node.firstChild!);
    if (name === 'NumberDurationLiteral') return Number(textOf(node));
    if (name === 'VectorSelector') return select(node);
    if (name === 'AggregateExpr') return aggregate(node);
    if (name === 'BinaryExpr') return combine(node);
    const selector = node.getChild('FunctionCallBody')?.getChild('MatrixSelector')?.getChild('VectorSelector');
    if (selector && /^(rate|increase)\(/.test(textOf(node))) return select(selector);
    throw new Error(`${textOf(node)} cannot be evaluated here`);
  }

  function evaluateVector(node: SyntaxNode): Vector {
    const result = evaluate(node);
    return typeof result === 'number' ? [{ labels: {}, value: result }] : result;
  }

  function select(node: SyntaxNode): Vector {
    const metric = textOf(node.getChild('Identifier')!);
    const figure = recorded.get(metric);
    const found = figure
      ? evaluateRule(figure, samples, recorded)
      : samples.filter((sample) => sample.name === metric).map(({ labels, value }) => ({ labels, value }));
    const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
    return matchers.reduce((left, matcher) => {
      const [label, operator, wanted] = ['LabelName', 'MatchOp', 'StringLiteral'].map((part) =>
        textOf(matcher.getChild(part)!),
      ) as [string, string, string];
      return left.filter(({ labels }) => MATCHES[operator]!(labels[label] ?? '', wanted.slice(1, -1)));
    }, found);
  }

  function aggregate(node: SyntaxNode): Vector {
    const by = labelsIn(node.getChild('AggregateModifier'));
    const operator = AGGREGATES[textOf(node.getChild('AggregateOp')!)]!;
    const groups = Map.groupBy(evaluateVector(node.getChild('FunctionCallBody')!.firstChild!), keyed(by));
    return [...groups.values()].map((all) => ({
      labels: Object.fromEntries(Object.entries(all[0]!.labels).filter(([label]) => by.includes(label))),
      value: operator(all.map(({ value }) => value)),
    }));
  }

  function combine(node: SyntaxNode): Vector | number {
    const [left, right] = [evaluate(node.firstChild!), evaluate(node.lastChild!)];
    const operator = node.firstChild!.nextSibling!.name;
    const [calculate, compare] = [ARITHMETIC[operator], COMPARISONS[operator]];
    const compute = (a: number, b: number) => (calculate ? calculate(a, b) : compare?.(a, b) ? a : null);
    if (typeof left === 'number') {
      if (!calculate) throw new Error(`${textOf(node)} begins with a number`);
      return typeof right === 'number' ? calculate(left, right) : toVector(right, (value) => calculate(left, value));
    }
    if (typeof right === 'number') return toVector(left, (value) => compute(value, right));
    const clause = node.getChild('MatchingModifierClause');
    if (clause && (calculate || compare || !clause.getChild('On'))) throw new Error(`${textOf(clause)} is not known`);
    const key = keyed(clause ? labelsIn(clause) : null);
    const [others, mine] = [Map.groupBy(right, key), new Set(left.map(key))];
    if (operator === 'And') return left.filter((one) => others.has(key(one)));
    if (operator === 'Unless') return left.filter((one) => !others.has(key(one)));
    if (operator === 'Or') return [...left, ...right.filter((one) => !mine.has(key(one)))];
    return toVector(left, (value, one) => {
      const other = others.get(key(one))?.[0];
      return other ? compute(value, other.value) : null;
    });
  }

  return evaluateVector(parser.parse(expr).topNode);
}

function toVector(vector: Vector, compute: (value: number, one: Vector[number]) => number | null): Vector {
  return vector.flatMap((one) => {
    const value = compute(one.value, one);
    return value === null ? [] : [{ labels: one.labels, value }];
  });
}

/** What two series are matched by: these labels or, without a list, all. A label that is missing is an empty one. */
const keyed = (by: string[] | null) => (one: Vector[number]) =>
  JSON.stringify(
    (by ?? Object.keys(one.labels))
      .toSorted()
      .flatMap((label) => (one.labels[label] ? [label, one.labels[label]] : [])),
  );
