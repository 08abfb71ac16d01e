import type { Generated } from 'kysely';

export interface WebhookEndpointsTable {
  id: string;
  account_id: string;
  url: string | null;
  description: Generated<string>;
  event_types: string[];
  secret: string;
  previous_secret: string | null;
  previous_until: Date | null;
  disabled_at: Date | null;
  disabled_why: 'owner' | 'gone' | 'failing' | null;
  failing_since: Date | null;
  skipped: Generated<number>;
  created_at: Generated<Date>;
  removed_at: Generated<Date | null>;
}

export interface WebhookEventsTable {
  id: Generated<string>;
  account_id: string;
  type: string;
  data: Record<string, unknown>;
  url: string | null;
  created_at: Generated<Date>;
  spread_at: Date | null;
}

export interface WebhookReceiversTable {
  id: Generated<bigint>;
  endpoint_id: string;
  account_id: string;
  origin: string;
  next_due_at: Date;
  failures: Generated<number>;
  resting_until: Generated<Date>;
  is_quick: Generated<boolean>;
  used_at: Generated<Date>;
}

export interface WebhookDeliveriesTable {
  id: Generated<string>;
  event_id: string;
  endpoint_id: string;
  receiver_id: bigint;
  account_id: string;
  url: string | null;
  status: Generated<'pending' | 'delivered' | 'failed'>;
  due_at: Generated<Date>;
  lease_owner: string | null;
  attempts: Generated<number>;
  tries: Generated<number>;
  log: Generated<readonly unknown[]>;
  created_at: Generated<Date>;
  expires_at: Generated<Date>;
  ended_at: Date | null;
}
