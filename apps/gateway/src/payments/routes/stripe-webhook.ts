import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { handleEvent } from '../card/handle-event.ts';
import type { PaymentsContext } from '../context.ts';

const Received = Type.Object({ received: Type.Literal(true) });

/** POST /api/webhooks/stripe. Stripe's signature over the raw bytes of the body is the credential. */
export async function stripeWebhookRoute(
  app: FastifyInstance,
  { context }: { context: PaymentsContext },
): Promise<void> {
  // Keeps the raw bytes, in this scope only, because the signature covers them and not the parsed JSON.
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, bytes: Buffer) => bytes,
  );
  app.post<{ Body: Buffer | undefined }>(
    '/api/webhooks/stripe',
    {
      bodyLimit: 512 * 1_024,
      config: { operation: 'webhook', idempotent: 'by nature' },
      schema: {
        operationId: 'receiveStripeEvent',
        tags: ['Account'],
        summary: 'Stripe webhook',
        description: 'Answers 200 once the event was processed, or if it does not concern this service.',
        security: access.none,
        response: {
          200: jsonAnswer('Dealt with.', Received),
          ...errors(
            'invalid_webhook',
            'payload_too_large',
            'unsupported_media_type',
            'payment_processor_error',
            'not_configured',
          ),
        },
      },
    },
    async (request) => {
      const { processor } = context;
      if (!processor)
        throw new ApiError('not_configured', { detail: 'Card payments are not configured on this service.' });
      const signature = request.headers['stripe-signature'];
      const event = await processor.verifyEvent(request.body ?? Buffer.alloc(0), signature?.toString());
      await handleEvent(context, processor, event);
      return { received: true };
    },
  );
}
