import { type DryRunEstimates, type DryRunResult, type Issue, isJsonObject } from '@eloquentpoll/contracts';
import { holdOf, isFree, maxCostUsdOf, type PollOrder } from '@eloquentpoll/polls';
import { balanceOf } from '@eloquentpoll/storage';
import { lookAlikes } from '../../http/validation/option-rules.ts';
import { uncleanIn } from '../../http/validation/text-rules.ts';
import type { PollsContext } from '../context.ts';
import { askingNow } from './asking-now.ts';
import { chooseModels, chosenModelIssues } from './choose-models.ts';
import { estimatePoll } from './estimate-poll.ts';
import { freezeOrder } from './freeze-order.ts';
import { panelIssues, pollIssues, profileIssues, type RunRequest } from './poll-order.ts';
import { typicalOrder } from './typical-poll.ts';

// A dry run lists the faults of a poll, its estimate, and whether the caller can pay. It stores and holds nothing and
// calls no model.

export async function dryRun(context: PollsContext, accountId: string | null, body: unknown): Promise<DryRunResult> {
  const issues = issuesIn(body);
  return dryRunResult(context, accountId, issues, orderOfRest(body, issues));
}

/** The issues of a request, and the estimates if it can be read as an order. */
export async function dryRunResult(
  context: PollsContext,
  accountId: string | null,
  issues: readonly Issue[],
  order: PollOrder | null,
): Promise<DryRunResult> {
  const unknown = order ? await chosenModelIssues(context, order, accountId) : [];
  const all = [...issues, ...unknown];
  return {
    dry_run: true,
    valid: all.length === 0,
    errors: all.map((issue) => issue.detail),
    issues: all,
    warnings: order ? lookAlikes(order.options) : [],
    estimates: order && unknown.length === 0 ? await estimatesOf(context, accountId, order) : {},
  };
}

function issuesIn(body: unknown): Issue[] {
  const unclean = uncleanIn(body);
  return unclean ? [unclean] : pollIssues(body);
}

/** An order from the fields that are valid; null when the body as a whole, or its panel, is invalid. */
function orderOfRest(body: unknown, issues: readonly Issue[]): PollOrder | null {
  const wrong = new Set((issues.length > 0 ? everyIssue(body) : []).map(({ pointer }) => pointer.split('/')[1]));
  if (wrong.has(undefined) || PANEL_FIELDS.some((field) => wrong.has(field))) return null;
  const valid = Object.entries(body as object).filter(([name]) => !wrong.has(name));
  return typicalOrder(Object.fromEntries(valid) as Partial<RunRequest>);
}

/** Without a panel there is nothing to estimate. */
const PANEL_FIELDS = ['preset', 'models', 'panel'];

/** A real request is refused at the first kind of issue; a dry run collects all kinds. */
function everyIssue(body: unknown): Issue[] {
  const unclean = uncleanIn(body);
  return [
    ...(unclean ? [unclean] : []),
    ...pollIssues(body),
    ...(isJsonObject(body) ? [...profileIssues(body), ...panelIssues(body)] : []),
  ];
}

async function estimatesOf(
  context: PollsContext,
  accountId: string | null,
  asked: PollOrder,
): Promise<DryRunEstimates> {
  const order = await chooseModels(context, asked, accountId);
  const [estimate, spec, balance] = await Promise.all([
    estimatePoll(context, order),
    askingNow(context, order).then((asking) => freezeOrder(context, order, asking)),
    accountId === null ? null : balanceOf(context.storage, accountId),
  ]);
  const spendableU = balance ? balance.availableU - balance.heldBackU : 0n;
  const wholePanel = holdOf({ ...spec, max_cost_u: Number.POSITIVE_INFINITY });
  const free = isFree(order.panel_name);
  // The operator pays for a free poll, so the caller is shown no cost.
  const costUsd = free ? { min: 0, expected: 0, max: 0 } : estimate.cost_usd;
  return {
    ...estimate,
    cost_usd: costUsd,
    max_cost_usd: maxCostUsdOf(order),
    min_cost_usd: free ? 0 : Math.min(...spec.seats.map(({ reserve_u }) => reserve_u)) / 1_000_000,
    within_budget: wholePanel <= BigInt(order.max_cost_u),
    balance_sufficient: free || spendableU >= holdOf(spec),
    estimated_cost_usd: costUsd.expected,
    estimated_models_invoked: Math.round(estimate.models.expected_calls),
    total_models: estimate.models.roster_size,
    estimated_latency_ms: estimate.latency_ms.p50,
  };
}
