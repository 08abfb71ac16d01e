import { createHmac } from 'node:crypto';
import type { PollSpec } from '@eloquentpoll/contracts';
import { providerMaxU } from '@eloquentpoll/models/panels';
import { deadlineMsOf, holdOf, newPollId, newResultId, type PollOrder } from '@eloquentpoll/polls';
import type { PollsContext } from '../context.ts';
import { askingNow } from '../order/asking-now.ts';
import { chooseModels } from '../order/choose-models.ts';
import { freezeOrder } from '../order/freeze-order.ts';
import { refuseBeyondFlex } from './ceiling-for.ts';
import { drawAudit } from './draw-audit.ts';

/** All of a poll that its order and this moment decide, however it comes in. */
export interface PreparedPoll {
  id: string;
  resultId: string;
  spec: PollSpec;
  metadata: PollOrder['metadata'];
  holdU: bigint;
  /** The most that providers can charge for it. */
  providerMaxU: number;
  deadlineMs: number;
  auditVersion: string | undefined;
}

interface Asked {
  order: PollOrder;
  accountId: string | null;
  tenant: string;
  pollId?: string;
}

/** At this moment's prices and the models' newest health; nothing is stored. */
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
    auditVersion: await drawAudit(context, pollId, asking),
  };
}

/**
 * Who asks, as providers hear it: the same for all polls of an account or network, and nothing that leads to it. They can
 * so stop one caller instead of all of ours.
 */
const callerOf = ({ config }: PollsContext, tenant: string): string =>
  createHmac('sha256', config.keyPepper).update(`provider user ${tenant}`).digest('base64url').slice(0, 32);
