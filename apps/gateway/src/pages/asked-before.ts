import type { ResultDetail } from '@eloquentpoll/contracts';
import { isPollId, isResultId } from '@eloquentpoll/polls';
import { findResult, readOutcomes } from '@eloquentpoll/storage';
import { toResultDetail } from '../polls/read/public-result.ts';
import { type AskedPoll, type Extras, publicModels } from './ask-again.ts';
import type { PagesContext } from './context.ts';
import { type HistoryRow, historyRows } from './dashboard/read-polls.ts';

/**
 * The poll that fills a form: a session of the account, or a result. The owner of a result gets the panel as requested,
 * everybody else what is public. Null if the poll does not exist or the reader may not see it.
 */
export async function askedBefore(
  context: PagesContext,
  accountId: string | null,
  id: string,
): Promise<AskedPoll | null> {
  if (isPollId(id)) return accountId === null ? null : ownPoll(context, accountId, id);
  const result = isResultId(id) ? await findResult(context.storage, id) : null;
  if (!result) return null;
  const isOwn = accountId !== null && result.accountId === accountId;
  const own = isOwn ? await ownPoll(context, accountId, result.pollId) : null;
  return own ?? publicPoll(toResultDetail(result), await extrasOf(context, result.pollId));
}

async function ownPoll(context: PagesContext, accountId: string, pollId: string): Promise<AskedPoll | null> {
  const [row] = await historyRows(context, accountId, [pollId]);
  return row ? askedOf(row) : null;
}

function askedOf({ question, panelName: preset, outcome }: HistoryRow): AskedPoll {
  const { options, confidenceThreshold, maxCostUsd, savedPanel, namedModels, search, reasons } = outcome;
  return {
    ...{ question, options: [...options], preset, confidence_threshold: confidenceThreshold, max_cost_usd: maxCostUsd },
    ...{ search, reasons },
    ...(savedPanel !== null && { saved_panel: savedPanel }),
    ...(namedModels && { models: namedModels }),
  };
}

function publicPoll(detail: ResultDetail, extras: Extras): AskedPoll {
  const models = publicModels(detail);
  return { ...detail, ...extras, ...(models && { models }) };
}

/** A result does not record whether its models should search. */
async function extrasOf({ storage }: PagesContext, pollId: string): Promise<Extras> {
  const outcome = (await readOutcomes(storage, [pollId])).get(pollId);
  return { search: outcome?.search ?? false, reasons: outcome?.reasons ?? false };
}
