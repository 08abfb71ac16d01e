import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_SETTINGS } from '@eloquentpoll/gateway/settings';
import { root } from '@eloquentpoll/launch/folders';
import { METRICS } from '@eloquentpoll/ops/metric-table';
import { WORKER_SETTINGS } from '@eloquentpoll/worker/settings';
import { parser } from '@prometheus-io/lezer-promql';
import t from 'tap';
import { parse } from 'yaml';

// Alarms and the board speak of metrics that exist: every expression parses, every name and label in it is one of the
// table that the processes count by, and every alarm says what to do.

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const file = parse(readFileSync(join(root, 'infra/monitoring/prometheus-rule.yaml'), 'utf8'));
const rules: Rule[] = file.spec.groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const recorded = new Map(rules.flatMap(({ record, expr }) => (record ? [[record, expr]] : [])));
const board = JSON.parse(readFileSync(join(root, 'infra/monitoring/board.json'), 'utf8'));
const panels: { title: string; targets?: { expr: string }[] }[] = board.panels;
const boardExpressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Put on every series by the scraper. */
const OF_TARGETS = ['job', 'pod', 'namespace', 'instance'];

t.test('every expression parses and speaks of metrics and labels that exist', async (t) => {
  t.ok(boardExpressions.length > 40 && rules.length > 25);
  for (const expr of [...rules.map((rule) => rule.expr), ...boardExpressions]) t.same(problems(expr), [], expr);
});

t.test('what is wrong is found', async (t) => {
  t.match(problems('sum(rate(eloquentpoll_http_requests_total[5m])'), [/does not parse/]);
  t.match(problems('eloquentpoll_requests'), [/no metric eloquentpoll_requests/]);
  t.match(problems('sum by (route) (eloquentpoll_http_requests_total)'), [/no label route/]);
  t.match(problems('eloquentpoll_polls_running{model="x"}'), [/no label model/]);
  t.match(problems('rate(eloquentpoll_http_requests_total_bucket[5m])'), [/no metric/]);
});

t.test(
  'one Prometheus may watch several cells: every figure and alarm is of one namespace, the board of those chosen',
  async (t) => {
    for (const { expr } of rules) t.same(mixing(expr), [], expr);
    t.match(
      mixing('max(eloquentpoll_ready) > sum by (job) (eloquentpoll_ready)'),
      [/^max/, /^sum/],
      'and others are found',
    );
    for (const expr of boardExpressions) {
      const selectors = expr.match(/(?:eloquentpoll[_:]|nodejs_|process_)[\w:]+/g) ?? [];
      t.equal(expr.split('{namespace=~"$namespace"').length, selectors.length + 1, expr);
    }
  },
);

const LONGEST = /^a whole number from \d+ to (\d+)$/;

t.test('no setting that is allowed makes an alarm fire all the time', async (t) => {
  const secondsOf = (alarm: string, what: string): number => {
    const { expr } = rules.find(({ alert }) => alert === alarm)!;
    const [, count, unit = '1'] = new RegExp(`${what}\\S* > (\\d+)(?: \\* (\\d+))?`).exec(expr) ?? [];
    return Number(count) * Number(unit);
  };
  for (const [alarm, what, { reader }] of [
    ['LedgerUnchecked', 'ledger_checked_timestamp', WORKER_SETTINGS.LEDGER_CHECK_S],
    ['MoneyNotReconciled', 'source="chain"', GATEWAY_SETTINGS.RECONCILE_TRANSFERS_S],
    ['MoneyNotReconciled', 'source="card"', GATEWAY_SETTINGS.RECONCILE_MOVEMENTS_S],
  ] as const) {
    const longest = Number(LONGEST.exec(reader.form)?.[1]);
    const firesAfter = secondsOf(alarm, what);
    // A round takes its time too, and one may fail.
    t.ok(
      longest <= firesAfter - 2_400 && longest * 1.2 <= firesAfter,
      `${alarm} ${what}: ${longest} of ${firesAfter} s`,
    );
  }
});

t.test('every alarm is graded, explained and leads to a page that says what to do', async (t) => {
  const alarms = rules.filter(({ alert }) => alert);
  for (const { alert, labels, annotations } of alarms) {
    t.match(labels?.severity, /^(page|ticket)$/, `${alert} is graded`);
    t.match(annotations?.summary, /\S{3,}.*\.$/, `${alert} is a sentence`);
    const runbook = join(root, annotations?.runbook ?? 'none');
    if (!t.ok(existsSync(runbook), `${alert} has ${annotations?.runbook}`)) continue;
    const page = readFileSync(runbook, 'utf8');
    t.match(page, new RegExp(`\`${alert}\``), 'which names it');
    for (const part of ['What is seen', 'What it means', 'Where to look', 'What to do'])
      t.match(page, `## ${part}`, `${annotations?.runbook} says ${part.toLowerCase()}`);
  }
  const pages = readdirSync(join(root, 'infra/runbooks')).filter((name) => name !== 'README.md');
  const used = new Set(alarms.map(({ annotations }) => annotations?.runbook?.split('/').at(-1)));
  t.same(
    pages.filter((name) => !used.has(name)),
    [],
    'and no page is left without an alarm',
  );
  t.ok(pages.length >= 10);
});

t.test('metrics that runbooks name exist', async (t) => {
  for (const name of readdirSync(join(root, 'infra/runbooks')))
    for (const [metric] of readFileSync(join(root, 'infra/runbooks', name), 'utf8').matchAll(/eloquentpoll_\w+/g))
      t.ok(labelsOf(metric) ?? metric === 'eloquentpoll_', `${name}: ${metric}`);
});

function problems(expr: string): string[] {
  const found: string[] = [];
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(expr).iterate({
    enter({ type, from, to, node }) {
      const text = expr.slice(from, to);
      if (type.isError) found.push(`${expr} does not parse at ${from}`);
      else if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.push(text);
      else if (type.name === 'LabelName') labels.push(text);
    },
  });
  if (found.length > 0) return found;
  const known = new Set(OF_TARGETS);
  for (const metric of metrics) {
    const its = labelsOf(metric);
    if (!its) found.push(`there is no metric ${metric}`);
    for (const label of its ?? []) known.add(label);
  }
  if (found.length === 0)
    for (const label of labels)
      if (!known.has(label)) found.push(`none of ${metrics.join(', ')} has label ${label}: no label ${label}`);
  return found;
}

/** Aggregations that add up what stands in several namespaces. */
function mixing(expr: string): string[] {
  const found: string[] = [];
  parser.parse(expr).iterate({
    enter({ type, from, to, node }) {
      if (type.name !== 'AggregateExpr') return;
      const kept = node.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName') ?? [];
      if (!kept.some((label) => expr.slice(label.from, label.to) === 'namespace')) found.push(expr.slice(from, to));
    },
  });
  return found;
}

function labelsOf(name: string): string[] | null {
  const table: Record<string, { type: string; labels: readonly string[] }> = METRICS;
  const own = table[name];
  if (own) return own.type === 'histogram' ? null : [...own.labels];
  const part = /^(.*)_(bucket|sum|count)$/.exec(name);
  const histogram = table[part?.[1] ?? ''];
  if (histogram?.type === 'histogram') return [...histogram.labels, ...(part?.[2] === 'bucket' ? ['le'] : [])];
  const expr = recorded.get(name);
  // A recorded figure has the labels that its expression kept.
  return expr === undefined ? null : [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '));
}
