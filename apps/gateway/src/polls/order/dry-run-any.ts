import type { DryRunResult } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { isShorthand } from './any-order.ts';
import { dryRun, dryRunResult } from './dry-run.ts';
import { readShortOrder } from './short-order.ts';

/** A dry run of any body of POST /api/poll; what is wrong with it is the answer and not an error. */
export async function dryRunAny(context: PollsContext, accountId: string, body: unknown): Promise<DryRunResult> {
  if (!isShorthand(body)) return dryRun(context, accountId, body);
  try {
    const { order } = readShortOrder(body, 'known');
    return await dryRunResult(context, accountId, [], order);
  } catch (error) {
    const issues = error instanceof ApiError ? error.circumstances.issues : undefined;
    if (!issues) throw error;
    return dryRunResult(context, accountId, issues, null);
  }
}
