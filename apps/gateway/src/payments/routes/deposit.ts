import { Deposit, DepositRequest, PaymentRequired, PaymentRequiredProblem } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY, withContent } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import { makeDeposit } from '../usdc/make-deposit.ts';
import { DEPOSIT_PATH } from '../usdc/terms.ts';

const PaymentHeaders = Type.Object({
  'x-payment': Type.Optional(Type.String({ description: 'The signed payment of x402 version 1 or 2, in base64.' })),
  'payment-signature': Type.Optional(
    Type.String({ description: 'The same payment, under the header name of version 2.' }),
  ),
  'deposit-secret': Type.Optional(
    Type.String({
      pattern: '^[!-~]{22,128}$',
      description:
        'A random value chosen by the payer for the first submission of a payment. A retry returns the first API key only if it has the same value.',
    }),
  ),
});

/** POST /api/deposit: takes USDC by x402. The signed payment is the credential; a new wallet gets an account. */
export function depositRoute(app: FastifyInstance, context: PaymentsContext): void {
  app.post<{ Body: DepositRequest }>(
    DEPOSIT_PATH,
    {
      config: { operation: 'deposit' },
      schema: {
        operationId: 'deposit',
        tags: ['Account'],
        summary: 'Deposit USDC',
        description:
          'Without a payment, the response is 402 with the payment requirements; x402 clients sign and repeat the request automatically. Each payment is credited once, to the account of the paying wallet. A new wallet gets an account and its first API key, which is shown only in this response. A payment that was already credited is refused.',
        security: access.none,
        headers: PaymentHeaders,
        body: Type.Ref(DepositRequest),
        response: {
          200: jsonAnswer('Credited.', Deposit),
          ...withContent(
            errors(
              ...READS_BODY,
              'invalid_payment',
              'payment_required',
              'payment_verification_failed',
              'payment_invalid_signature',
              'payment_expired',
              'payment_not_yet_valid',
              'payment_amount_mismatch',
              'payment_network_mismatch',
              'payment_payee_mismatch',
              'payment_already_used',
              'payment_insufficient_funds',
              'payment_settlement_failed',
              'deposit_in_progress',
              'payment_processor_error',
              'not_configured',
            ),
            402,
            { json: PaymentRequired, problem: PaymentRequiredProblem },
          ),
        },
      },
    },
    async (request, reply): Promise<Deposit> => {
      if (!context.deposits)
        throw new ApiError('not_configured', { detail: 'Deposits are not configured on this service.' });
      const { amount_usd: amountUsd } = request.body;
      const sent = {
        amountUsd,
        header: paymentOf(request),
        secret: request.headers['deposit-secret']?.toString() ?? null,
      };
      const paid = await makeDeposit(context, context.deposits, sent);
      reply.header(paid.receipt.header, paid.receipt.value);
      return paid.deposit;
    },
  );
}

function paymentOf({ headers }: FastifyRequest): string | null {
  const { 'x-payment': older, 'payment-signature': newer } = headers;
  if (older !== undefined && newer !== undefined && older !== newer) {
    throw new ApiError('invalid_payment', { detail: 'X-Payment and PAYMENT-SIGNATURE are two payments; send one.' });
  }
  return (newer ?? older)?.toString() ?? null;
}
