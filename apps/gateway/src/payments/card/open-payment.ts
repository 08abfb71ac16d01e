import { claimKey, completeKey, openCheckout, publishCheckout, releaseKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import { fingerprintOf } from '../../http/fingerprint.ts';
import type { PaymentsContext } from '../context.ts';
import type { Processor } from './processor.ts';

interface CheckoutOrder {
  accountId: string;
  amountCents: number;
  idempotencyKey: string | null;
}

/** Longer than the processor's timeout. */
const CLAIM_MS = 30_000;

/** Opens the processor's payment page; a retry with the same idempotency key gets the same page. */
export async function openPayment(
  context: PaymentsContext,
  processor: Processor,
  order: CheckoutOrder,
): Promise<{ url: string; replayed: boolean }> {
  const { storage } = context;
  if (order.idempotencyKey === null) return { url: await pageFor(context, processor, order), replayed: false };

  const scope = { principal: order.accountId, entryPoint: 'checkout', key: order.idempotencyKey };
  const fingerprint = fingerprintOf({ amount_cents: order.amountCents });
  const claimed = await claimKey(storage, { ...scope, fingerprint }, CLAIM_MS);
  switch (claimed.kind) {
    case 'done':
      return { url: claimed.response.toString(), replayed: true };
    case 'reused':
      throw new ApiError('idempotency_key_reused');
    case 'running':
      throw new ApiError('idempotency_conflict', { retryAfterSeconds: Math.ceil(claimed.retryAfterMs / 1_000) || 1 });
    case 'claimed':
      try {
        const url = await pageFor(context, processor, order);
        await completeKey(storage, claimed.claim, scope, Buffer.from(url));
        return { url, replayed: false };
      } catch (error) {
        await releaseKey(storage, claimed.claim, scope).catch(() => {});
        throw error;
      }
  }
}

/** Stores the checkout before the page exists, so that every payment can be matched to an account. */
async function pageFor(
  { storage, config, money }: PaymentsContext,
  processor: Processor,
  order: CheckoutOrder,
): Promise<string> {
  const id = await openCheckout(storage, order);
  const page = await processor.openPage({ id, accountId: order.accountId, amountCents: order.amountCents });
  await publishCheckout(storage, id, { ...page, livemode: config.checkout?.livemode === true });
  money.checkout('opened');
  return page.url;
}
