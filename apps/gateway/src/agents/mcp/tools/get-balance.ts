import { Balance } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { readBalance } from '../../../accounts/balance.ts';
import { inlined } from '../../../discovery/documents/inlined.ts';
import { accountOf } from '../../../http/access.ts';
import { ApiError } from '../../../http/api-error.ts';
import { READ_ONLY_HINTS, type Tool } from '../tool.ts';

const input = Type.Object({}, { additionalProperties: false });

/** GET /api/balance as a tool. */
export const getBalance: Tool = {
  definition: {
    name: 'get_balance',
    description: 'Read what your account can spend and what it has spent.',
    get inputSchema() {
      return inlined(input);
    },
    get outputSchema() {
      return inlined(Balance);
    },
    annotations: { title: 'Read the balance', ...READ_ONLY_HINTS },
  },
  operation: 'account',
  spends: false,
  async run({ context, request }): Promise<Balance> {
    const found = await readBalance(context.storage, accountOf(request));
    if (!found) throw new ApiError('authentication_required');
    return found;
  },
};
