import { createHmac } from 'node:crypto';
import type { FuzzedService } from './fuzzed-service.ts';

/** Signs a body as the card processor does. */
export function stripeSignature({ stripe }: FuzzedService, body: Buffer | null): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const mac = createHmac('sha256', stripe.secrets[0]!)
    .update(`${seconds}.`)
    .update(body ?? '');
  return `t=${seconds},v1=${mac.digest('hex')}`;
}
