import type { Migration } from './migration.ts';

// An endpoint that was removed is gone for every reader at once; its deliveries, which may be very many, go in steps.
export const removedEndpoints: Migration = {
  name: '0032-removed-endpoints',
  sql: () => `
-- removed_at: forget_webhooks deletes what is left of it.
alter table webhook_endpoints add column removed_at timestamptz;
create index webhook_endpoints_removed on webhook_endpoints (removed_at) where removed_at is not null;
`,
};
