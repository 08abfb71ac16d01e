import type { DryRunResult } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import { uncleanIn } from '../../http/validation/text-rules.ts';
import type { PollsContext } from '../context.ts';
import { isShorthand } from './any-order.ts';
import { dryRun, dryRunResult } from './dry-run.ts';
import { readShortOrder } from './short-order.ts';

/** A dry run of any body of POST /api/poll. Faults in the body are part of the answer, not an error. */
export async function dryRunAny(context: PollsContext, accountId: string | null, body: unknown): Promise<DryRunResult> {
  if (!isShorthand(body)) return dryRun(context, accountId, body);
  const unclean = uncleanIn(body);
  if (unclean) return dryRunResult(context, accountId, [unclean], null);
  try {
    const { order } = readShortOrder(body, accountId === null ? 'anonymous' : 'known');
    return await dryRunResult(context, accountId, [], order);
  } catch (error) {
    const issues = error instanceof ApiError ? error.circumstances.issues : undefined;
    if (!issues) throw error;
    return dryRunResult(context, accountId, issues, null);
  }
}
