import type { CampaignRule } from './rule.ts';

/** A pooler is there so that many connections of processes are few of Postgres. */
export const poolerRules: readonly CampaignRule[] = [
  {
    name: 'connections to Postgres stay within the pool, and clients are more',
    broken: ({ pooled }) => {
      if (!pooled) return ['there was no pooler'];
      const { clients, servers, size } = pooled;
      return servers === 0 || servers > size || clients <= size ? [`${clients} clients, ${servers} of ${size}`] : [];
    },
  },
];
