import { cancelRules } from './cancel-rules.ts';
import { deletionRules } from './deletion-rules.ts';
import { limitRules } from './limit-rules.ts';
import { listRules } from './list-rules.ts';
import { receiptRules } from './receipt-rules.ts';
import type { CampaignRule } from './rule.ts';
import { webhookRules } from './webhook-rules.ts';

/** Promises to accounts beyond their polls. */
export const promisedRules: readonly CampaignRule[] = [
  ...webhookRules,
  ...receiptRules,
  ...limitRules,
  ...cancelRules,
  ...deletionRules,
  ...listRules,
];
