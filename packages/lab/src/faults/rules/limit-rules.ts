import type { CampaignHistory } from '../history.ts';
import type { Attempt } from '../operations.ts';
import type { CampaignRule } from './rule.ts';

/** After so many polls with limited keys, some of them must have come to a limit that others had partly used. */
const MANY = 60;
/** A little more than the dearest poll of these callers sets aside, so that a short campaign need not have seen it. */
const POLL_U = 300_000n;

export const limitRules: readonly CampaignRule[] = [
  {
    name: 'what is spent and held by a key is at every moment within its limit, worked out from the transfers',
    broken({ promised }) {
      const limits = limitsOf(promised);
      return usesOf(promised).flatMap(({ keyId, pollId, usedU }) => {
        const limitU = limits.get(keyId) ?? 0n;
        return usedU > limitU ? [`${keyId} has ${usedU} of ${limitU} with ${pollId}`] : [];
      });
    },
  },
  {
    name: 'a key refuses no poll that its limit would cover',
    broken({ promised, operations, polls }) {
      const limits = limitsOf(promised);
      const uses = Map.groupBy(usesOf(promised), ({ keyId }) => keyId);
      // What a refused poll would have set aside is not stored.
      const mostU = polls.reduce((most, { holdU, row }) => (row === null && holdU > most ? holdU : most), POLL_U);
      return operations.flatMap(({ n, limitedKey, attempts }) => {
        if (!limitedKey) return [];
        const refusals = attempts.filter(({ code }) => code === 'key_budget_reached');
        const spareU = (limits.get(limitedKey.id) ?? 0n) - mostU;
        return refusals
          .map((refusal) => mostUsedU(uses.get(limitedKey.id) ?? [], refusal))
          .filter((usedU) => usedU <= spareU)
          .map(
            (usedU) => `operation ${n}: ${limitedKey.id} refused with ${usedU} of ${limits.get(limitedKey.id)} used`,
          );
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
  {
    name: 'keys took polls and refused others at their limit',
    broken(history) {
      const { taken, refused, keysOfBoth } = limitCounts(history);
      return taken + refused >= MANY && keysOfBoth === 0 ? [`${taken} taken, ${refused} refused, by no key both`] : [];
    },
  },
];

/** How often limits of keys were tried. A key that refuses everything, or nothing, shows nothing of its limit. */
export function limitCounts({ promised, operations }: Pick<CampaignHistory, 'promised' | 'operations'>) {
  const holds = (promised?.keyMoves ?? []).filter(({ kind }) => kind === 'hold');
  const refusing = operations.flatMap(({ limitedKey }) => (limitedKey?.refused ? [limitedKey.id] : []));
  const taking = new Set(holds.map(({ keyId }) => keyId));
  return {
    taken: holds.length,
    refused: refusing.length,
    keysOfBoth: new Set(refusing.filter((id) => taking.has(id))).size,
  };
}

interface UseOfKey {
  readonly keyId: string;
  readonly pollId: string;
  /** Spent and held, by the transfers up to this one. */
  readonly usedU: bigint;
  readonly at: number;
}

const limitsOf = (promised: CampaignHistory['promised']): Map<string, bigint> =>
  new Map((promised?.limitedKeys ?? []).map(({ id, limitU }) => [id, limitU]));

function usesOf(promised: CampaignHistory['promised']): UseOfKey[] {
  const used = new Map<string, bigint>();
  const holds = new Map<string, bigint>();
  return (promised?.keyMoves ?? []).map(({ keyId, pollId, kind, amountU, at }) => {
    if (kind === 'hold') holds.set(pollId, amountU);
    const releasedU = kind === 'hold' ? 0n : (holds.get(pollId) ?? 0n);
    const takenU = kind === 'void' ? 0n : amountU;
    const usedU = (used.get(keyId) ?? 0n) + takenU - releasedU;
    used.set(keyId, usedU);
    return { keyId, pollId, usedU, at };
  });
}

/** A transaction counts when it commits, which may be so long after it began. */
const COMMITS_WITHIN_MS = 10_000;

/** The most that a key can have used while this request ran. */
function mostUsedU(uses: readonly UseOfKey[], { asked, answered }: Attempt): bigint {
  const first = uses.findLastIndex(({ at }) => at < asked - COMMITS_WITHIN_MS);
  const until = (answered ?? Number.POSITIVE_INFINITY) + COMMITS_WITHIN_MS;
  let mostU = 0n;
  for (const { usedU, at } of uses.slice(Math.max(0, first))) if (at <= until && usedU > mostU) mostU = usedU;
  return mostU;
}
