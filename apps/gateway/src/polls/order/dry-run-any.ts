import type { DryRunResult } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { isShorthand } from './any-order.ts';
import { dryRun, judged } from './dry-run.ts';
import { readShortOrder } from './short-order.ts';

/** A dry run of whatever POST /api/poll takes. What is wrong with the body is the answer here too. */
export async function dryRunAny(context: PollsContext, accountId: string, body: unknown): Promise<DryRunResult> {
  if (!isShorthand(body)) return dryRun(context, accountId, body);
  try {
    const { order } = readShortOrder(body, 'known');
    return await judged(context, accountId, [], order);
  } catch (error) {
    const issues = error instanceof ApiError ? error.circumstances.issues : undefined;
    if (!issues) throw error;
    return judged(context, accountId, issues, null);
  }
}
