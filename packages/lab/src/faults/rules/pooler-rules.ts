import type { CampaignRule } from './rule.ts';

/** The pooler must serve many connections of processes with few Postgres connections. */
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
