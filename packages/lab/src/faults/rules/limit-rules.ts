import type { CampaignRule } from './rule.ts';

export const limitRules: readonly CampaignRule[] = [
  {
    name: 'what is spent and held by a key is at every moment within its limit, worked out from the transfers',
    broken({ promised }) {
      if (!promised) return [];
      const limits = new Map(promised.limitedKeys.map(({ id, limitU }) => [id, limitU]));
      const used = new Map<string, bigint>();
      const holds = new Map<string, bigint>();
      return promised.keyMoves.flatMap(({ keyId, pollId, kind, amountU }) => {
        if (kind === 'hold') holds.set(pollId, amountU);
        const released = kind === 'hold' ? 0n : (holds.get(pollId) ?? 0n);
        const taken = kind === 'void' ? 0n : amountU;
        const now = (used.get(keyId) ?? 0n) + taken - released;
        used.set(keyId, now);
        const limit = limits.get(keyId) ?? 0n;
        return now > limit ? [`${keyId} has ${now} of ${limit} with ${pollId}`] : [];
      });
    },
  },
  {
    name: 'what the service counts for a key is what its polls were charged, and nothing is held at the end',
    broken({ promised }) {
      const spent = new Map<string, bigint>();
      for (const { keyId, kind, amountU } of promised?.keyMoves ?? [])
        if (kind === 'post') spent.set(keyId, (spent.get(keyId) ?? 0n) + amountU);
      return (promised?.limitedKeys ?? [])
        .filter(({ id, spentU, heldU }) => spentU !== (spent.get(id) ?? 0n) || heldU !== 0n)
        .map(({ id, spentU, heldU }) => `${id}: counted ${spentU}, charged ${spent.get(id) ?? 0n}, held ${heldU}`);
    },
  },
];
