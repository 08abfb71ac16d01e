// Accounts that every database has from its first migration.

/** Pays for free polls; refilled once a day up to the operator's cap. */
export const FREE_POOL = '00000000-0000-4000-8000-000000000001';
/** Pays for the remaining models of audited polls; refilled like the free pool. */
export const AUDIT_POOL = '00000000-0000-4000-8000-000000000006';
/** Where captured holds go. */
export const REVENUE = '00000000-0000-4000-8000-000000000002';

/** Where credits come from. The balance of each source is what it owes us, negated. */
export const FUNDING = {
  operator: '00000000-0000-4000-8000-000000000003',
  card: '00000000-0000-4000-8000-000000000004',
  chain: '00000000-0000-4000-8000-000000000005',
  /** Other cells: what moved accounts took there, minus what they brought. */
  cells: '00000000-0000-4000-8000-000000000007',
} as const;
export type FundingSource = keyof typeof FUNDING;
