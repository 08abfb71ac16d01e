import { WalletChallenge, WalletChallengeQuery } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { readAddress } from '../wallets/address.ts';
import { issueChallenge } from '../wallets/challenge.ts';

/** GET /api/wallet/challenge: a message for a wallet to sign. */
export function walletChallengeRoute(app: FastifyInstance, context: AccountsContext): void {
  app.get<{ Querystring: WalletChallengeQuery }>(
    '/api/wallet/challenge',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'getWalletChallenge',
        tags: ['Account'],
        summary: 'Get a wallet challenge',
        description:
          'Sign the message unchanged within 5 minutes; the signature can be used once. For each address, the last five challenges are valid.',
        security: access.none,
        querystring: WalletChallengeQuery,
        response: {
          200: jsonAnswer('The challenge.', WalletChallenge),
          ...errors('validation_error', 'invalid_wallet_address'),
        },
      },
    },
    async ({ query, ip }): Promise<WalletChallenge> => {
      const address = await readAddress(query.address);
      if (address === null) throw new ApiError('invalid_wallet_address', { detail: WRONG });
      return issueChallenge(context, { address, purpose: query.purpose ?? null, ip });
    },
  );
}

const WRONG = 'address must be 0x and 40 hexadecimal digits, in one case or with the right EIP-55 checksum.';
