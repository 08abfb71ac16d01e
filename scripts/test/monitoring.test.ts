import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_SETTINGS } from '@eloquentpoll/gateway/settings';
import { root } from '@eloquentpoll/launch/folders';
import { METRICS } from '@eloquentpoll/ops/metric-table';
import { WORKER_SETTINGS } from '@eloquentpoll/worker/settings';
import { parser } from '@prometheus-io/lezer-promql';
import t from 'tap';
import { parse } from 'yaml';
import { evaluateRule, type Sample } from './infra/evaluate-rule.ts';

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
const OF_TARGETS = ['namespace', 'job', 'pod', 'instance'];

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

t.test('an alarm of what every process exports is tied to the processes of ours', async (t) => {
  for (const { expr } of rules) t.same(untied(expr), [], expr);
  t.same(
    untied('max by (pod) (process_open_fds) > 9 and on (namespace) (nodejs_heap_size_used_bytes)'),
    ['process_open_fds', 'nodejs_heap_size_used_bytes'],
    'and others are found',
  );
  const process = (namespace: string, pod: string, job: string) => ({ namespace, pod, job, instance: `${pod}:9464` });
  const ours = process('eloquentpoll', 'worker-1', 'worker');
  const others = [
    process('eloquentpoll', 'postgres-1', 'postgres'),
    process('shop', 'worker-1', 'worker'),
    process('monitoring', 'prometheus-0', 'prometheus'),
  ];
  const unlabelled = { job: 'worker' };
  for (const [alert, name, value] of [
    ['MemoryNearItsLimit', 'process_resident_memory_bytes', 500 * 1024 * 1024],
    ['EventLoopLate', 'nodejs_eventloop_lag_p99_seconds', 1],
  ] as const) {
    const firing = (our: Record<string, string>, ourValue: number) =>
      evaluate(alert, [
        {
          name: 'eloquentpoll_build_info',
          labels: { ...our, service: 'worker', version: '2.0.0', commit: 'x' },
          value: 1,
        },
        { name, labels: our, value: ourValue },
        ...others.map((labels) => ({ name, labels, value })),
      ]).map(({ labels }) => labels);
    t.same(firing(ours, 0), [], `${alert}: of others`);
    t.same(firing(ours, value), [{ namespace: 'eloquentpoll', pod: 'worker-1', job: 'worker' }], `${alert}: of ours`);
    t.same(firing(unlabelled, value), [unlabelled], `${alert}: where targets have no namespace and no pod`);
  }
});

t.test('ModelsFail counts every model with traffic, also those that never failed', async (t) => {
  const votes = (model: string, outcome: string, value: number): Sample => ({
    name: 'eloquentpoll_votes_total',
    labels: { namespace: 'eloquentpoll', pod: 'worker-1', job: 'worker', model, outcome },
    value,
  });
  const well = (count: number) => Array.from({ length: count }, (_, i) => votes(`well-${i}`, 'vote', 1));
  const failing = (count: number) => Array.from({ length: count }, (_, i) => votes(`bad-${i}`, 'timeout', 4));
  const idle = ['a', 'b', 'c', 'd'].flatMap((model) => [
    votes(model, 'vote', 0),
    votes(model, 'timeout', 0),
    votes(model, 'aborted', 1),
  ]);
  const figure = 'eloquentpoll:vote_failures:ratio10m';
  t.same(
    evaluateRule(
      figure,
      [votes('well', 'vote', 3), votes('bad', 'vote', 1), votes('bad', 'timeout', 3), ...idle],
      recorded,
    )
      .map(({ labels, value }) => [labels.model, value])
      .toSorted(),
    [
      ['bad', 0.75],
      ['well', 0],
    ],
    'and no model without',
  );
  const pages = (samples: Sample[]) => evaluate('ModelsFail', samples).length > 0;
  t.notOk(pages([...failing(1), ...well(19), ...idle]), 'one of twenty');
  t.notOk(pages([...failing(6), ...well(14)]), 'six of twenty');
  t.ok(pages([...failing(7), ...well(13)]), 'seven of twenty');
  t.ok(pages([...failing(7), ...well(13), ...idle]), 'seven of twenty that are asked');
});

t.test('OneWorkerReady is about one that is left, not about none and not about gateways', async (t) => {
  const ready = (job: string, ...values: number[]): Sample[] =>
    values.map((value, i) => ({
      name: 'eloquentpoll_ready',
      labels: { namespace: 'eloquentpoll', pod: `${job}-${i}`, job },
      value,
    }));
  const fires = (...workers: number[]) =>
    evaluate('OneWorkerReady', [...ready('worker', ...workers), ...ready('gateway', 1)]).length > 0;
  t.ok(fires(1), 'the only one');
  t.ok(fires(1, 0, 0), 'of which others are not ready');
  t.notOk(fires(1, 1));
  t.notOk(fires(0, 0), 'which NoWorkerReady pages for');
});

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

t.test('the runbook says what to do for each way in which a card payment can differ from its checkout', async (t) => {
  const source = readFileSync(join(root, 'apps/gateway/src/payments/card/sync-payment.ts'), 'utf8');
  const [, rest = ''] = source.split('function mismatchOf');
  const reasons = [...rest.matchAll(/return .*?'(\w+)';/g)].map(([, reason]) => reason!);
  t.ok(reasons.length >= 6, reasons.join(' '));
  const [, steps = ''] = readFileSync(join(root, 'infra/runbooks/money-misfit.md'), 'utf8').split('## What to do');
  for (const reason of reasons) t.match(steps, `\`${reason}\``);
});

t.test('the page about errors of workers has a line for every event that a worker logs as an error', async (t) => {
  const folder = join(root, 'apps/worker/src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const events = sources.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/log\.(?:error|fatal)\([^']*'([\w.]+)'/g)].map(
      ([, event]) => event!,
    ),
  );
  t.ok(events.length >= 9, events.join(' '));
  const page = readFileSync(join(root, 'infra/runbooks/worker-errors.md'), 'utf8');
  for (const event of events) t.match(page, new RegExp(`^\\| .*\`${event}\`.* \\|$`, 'm'), event);
});

t.test('the help of eloquentpoll_ready_check names every check of a gateway and of a worker', async (t) => {
  for (const file of ['apps/gateway/src/operators/open-ops.ts', 'apps/worker/src/ops/open-ops.ts']) {
    const [, rest = ''] = readFileSync(join(root, file), 'utf8').split('openReadiness(metrics, {');
    const names = [...rest.split('\n  });')[0]!.matchAll(/^ {4}(\w+)[:,]|\b(replica): \{/gm)].map(
      ([, a, b]) => (a ?? b)!,
    );
    t.ok(names.length >= 5, names.join(' '));
    for (const name of names) t.match(METRICS.eloquentpoll_ready_check.help, new RegExp(`\\b${name}\\b`), file);
  }
});

t.test('what runbooks name on the board, on the console or on another page is called so there', async (t) => {
  const folder = join(root, 'infra/runbooks');
  const pages = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const operatorsConsole = readFileSync(join(root, 'apps/gateway/src/operators/console/page.ts'), 'utf8');
  const titles = new Set(panels.map(({ title }) => title));
  const italics = /(?<!\*)\*([A-Z][^*]+)\*(?!\*)/g;
  const named = pages.flatMap((page) => [...page.matchAll(italics)].map(([, title]) => title!));
  t.ok(named.length >= 10);
  for (const title of named) {
    const isStep = pages.some((page) => page.includes(`. ${title}:`));
    t.ok(titles.has(title) || isStep || operatorsConsole.includes(`'${title}'`), title);
  }
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

/** What the alarm says of these samples; of a counter the sample is its rate. */
function evaluate(alert: string, samples: Sample[]): ReturnType<typeof evaluateRule> {
  return evaluateRule(rules.find((rule) => rule.alert === alert)!.expr, samples, recorded);
}

/** Metrics that other processes have too, and that no `and` ties to the target of a metric of ours. */
function untied(expr: string): string[] {
  const found: string[] = [];
  parser.parse(expr).iterate({
    enter({ type, node }) {
      if (type.name !== 'VectorSelector') return;
      const nameOf = (selector: typeof node) => {
        const name = selector.getChild('Identifier');
        return name ? expr.slice(name.from, name.to) : '';
      };
      const name = nameOf(node);
      if (/^eloquentpoll[_:]/.test(name)) return;
      const { parent } = node;
      const clause = parent?.getChild('And') ? parent.getChild('MatchingModifierClause') : null;
      const on = clause && expr.slice(clause.from, clause.to);
      const isTied =
        on === `on (${OF_TARGETS.join(', ')})` &&
        parent?.firstChild?.from === node.from &&
        parent.lastChild?.type.name === 'VectorSelector' &&
        nameOf(parent.lastChild) === 'eloquentpoll_build_info';
      if (!isTied) found.push(name);
    },
  });
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
