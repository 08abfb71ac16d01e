import { createHmac } from 'node:crypto';
import type { PollSpec } from '@eloquentpoll/contracts';
import { providerMaxU } from '@eloquentpoll/models/panels';
import { deadlineMsOf, holdOf, newPollId, newResultId, type PollOrder } from '@eloquentpoll/polls';
import type { PollsContext } from '../context.ts';
import { askingNow } from '../order/asking-now.ts';
import { chooseModels } from '../order/choose-models.ts';
import { freezeOrder } from '../order/freeze-order.ts';
import { refuseBeyondFlex } from './ceiling-for.ts';
import { type DrawnAudit, drawAudit } from './draw-audit.ts';

/** Everything about a poll that follows from its order and the current moment, whichever way it was submitted. */
export interface PreparedPoll extends DrawnAudit {
  id: string;
  resultId: string;
  spec: PollSpec;
  metadata: PollOrder['metadata'];
  holdU: bigint;
  /** The maximum that providers can charge for the poll. */
  providerMaxU: number;
  deadlineMs: number;
}

interface Asked {
  order: PollOrder;
  accountId: string | null;
  tenant: string;
  pollId?: string;
}

/** Uses current prices and the models' latest health; stores nothing. */
export async function preparePoll(
  context: PollsContext,
  { order: asked, accountId, tenant, pollId = newPollId(context.config.cell) }: Asked,
): Promise<PreparedPoll> {
  const order = await chooseModels(context, asked, accountId);
  const asking = await askingNow(context, order);
  const spec = await freezeOrder(context, order, asking, callerOf(context, tenant));
  const maxU = providerMaxU(spec);
  refuseBeyondFlex(context, spec, maxU);
  return {
    id: pollId,
    resultId: newResultId(context.config.cell),
    spec,
    metadata: order.metadata,
    holdU: holdOf(spec),
    providerMaxU: maxU,
    deadlineMs: deadlineMsOf(spec),
    ...(await drawAudit(context, { ...order, tenant }, asking)),
  };
}

/**
 * The caller's pseudonym at providers: the same for all polls of an account or network, and not traceable to it.
 * Providers can use it to block one caller instead of all our traffic.
 */
const callerOf = ({ config }: PollsContext, tenant: string): string =>
  createHmac('sha256', config.keyPepper).update(`provider user ${tenant}`).digest('base64url').slice(0, 32);
