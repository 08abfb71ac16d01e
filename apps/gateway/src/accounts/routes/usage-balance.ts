import { LowBalance, UsageBalance } from '@eloquentpoll/contracts';
import { balanceOf, findKeyLimit, type Storage, setLowBalance } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, type Principal, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { limitU } from '../keys/read-key-terms.ts';

/** GET /api/usage/balance and PUT /api/usage/low-balance. */
export function usageBalanceRoutes(app: FastifyInstance, { storage }: AccountsContext): void {
  app.get(
    '/api/usage/balance',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getUsageBalance',
        tags: ['Account'],
        summary: 'Get the balance with a key',
        description:
          'For keys and logins, exact to the micro-USD, with the rest of the limit of the key that sends the request.',
        security: access.sessionOrBearer,
        response: { 200: jsonAnswer('The balance.', UsageBalance), ...errors(...NEEDS_KEY) },
      },
    },
    async ({ principal }): Promise<UsageBalance> => {
      if (!principal) throw new ApiError('authentication_required');
      return usageBalance(storage, principal);
    },
  );
  app.put<{ Body: LowBalance }>(
    '/api/usage/low-balance',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'setLowBalance',
        tags: ['Account'],
        summary: 'Set the low-balance threshold',
        description:
          'When a charge or a refund takes the balance below the threshold, the event `balance.low` is sent once. A key that has a limit, expires or is read-only cannot set it.',
        security: access.sessionOrBearer,
        body: Type.Ref(LowBalance),
        response: {
          200: jsonAnswer('The balance.', UsageBalance),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'restricted_key', 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<UsageBalance> => {
      requireUnrestricted(request.principal);
      const amount = request.body.low_balance_usd;
      await setLowBalance(storage, accountOf(request), amount === null ? null : atLeastOne(limitU(amount)));
      return usageBalance(storage, request.principal!);
    },
  );
}

const atLeastOne = (amountU: bigint): bigint => (amountU > 0n ? amountU : 1n);

async function usageBalance(storage: Storage, { accountId, keyId }: Principal): Promise<UsageBalance> {
  const [found, limit] = await Promise.all([
    balanceOf(storage, accountId),
    keyId === undefined ? null : findKeyLimit(storage, keyId),
  ]);
  if (!found) throw new ApiError('authentication_required');
  const { availableU, heldU, reservedU, heldBackU, usageU, lowU, postedU } = found;
  return {
    available_usd: usd(availableU - heldBackU),
    reserved_usd: usd(heldU + reservedU + heldBackU),
    used_usd: usd(usageU),
    low_balance_usd: lowU === null ? null : usd(lowU),
    is_low: lowU !== null && postedU < lowU,
    key: limit && {
      limit_usd: usd(limit.limitU),
      limit_reset: limit.reset,
      spent_usd: usd(limit.spentU),
      held_usd: usd(limit.heldU),
      left_usd: Math.max(0, usd(limit.limitU - limit.spentU - limit.heldU)),
      resets_at: limit.resetsAt?.toISOString() ?? null,
    },
  };
}

const usd = (microUsd: bigint): number => Number(microUsd) / 1_000_000;
