import { Checkout, CheckoutRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import { openPayment } from '../card/open-payment.ts';
import type { PaymentsContext } from '../context.ts';

/** POST /api/checkout: opens a payment page of the card processor. */
export function checkoutRoute(app: FastifyInstance, context: PaymentsContext): void {
  app.post<{ Body: CheckoutRequest }>(
    '/api/checkout',
    {
      config: { operation: 'checkout', idempotent: true },
      schema: {
        operationId: 'createCheckout',
        tags: ['Account'],
        summary: 'Create a card checkout',
        description: 'The payment is credited when it is confirmed, usually within seconds.',
        security: access.session,
        body: Type.Ref(CheckoutRequest),
        response: {
          200: jsonAnswer('Where to pay.', Checkout),
          ...errors(
            ...READS_BODY,
            'authentication_required',
            'forbidden_origin',
            'idempotency_conflict',
            'idempotency_key_reused',
            'payment_processor_error',
            'not_configured',
          ),
        },
      },
    },
    async (request, reply): Promise<Checkout> => {
      const accountId = accountOf(request);
      if (!context.processor)
        throw new ApiError('not_configured', { detail: 'Card payments are not configured on this service.' });
      const order = { accountId, amountCents: request.body.amount_cents, idempotencyKey: request.idempotencyKey };
      const { url, replayed } = await openPayment(context, context.processor, order);
      if (replayed) markReplayed(reply);
      return { url };
    },
  );
}
