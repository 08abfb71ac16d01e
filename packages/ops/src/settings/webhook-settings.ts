import { SettingError } from './table.ts';

/** How webhooks are sealed and where they may go. */
export interface WebhookSettings {
  /** The first one seals, all of them open. */
  sealingKeys: readonly string[];
  /** Whether this machine may be sent to, by http too. */
  toLoopback: boolean;
}

interface Given {
  NODE_ENV?: string | undefined;
  WEBHOOK_SEALING_KEYS?: readonly string[] | undefined;
  WEBHOOKS_TO_LOOPBACK: boolean;
}

/** Null where there are no webhooks. */
export function webhookSettings({
  NODE_ENV,
  WEBHOOK_SEALING_KEYS: sealingKeys,
  WEBHOOKS_TO_LOOPBACK: toLoopback,
}: Given): WebhookSettings | null {
  if (toLoopback && NODE_ENV === 'production')
    throw new SettingError('WEBHOOKS_TO_LOOPBACK', 'must be off in production');
  return sealingKeys ? { sealingKeys, toLoopback } : null;
}
