import { MASTER_FAULTS } from '../fault-kinds.ts';
import type { Found } from '../find-markers.ts';
import type { CampaignHistory } from '../history.ts';
import type { CampaignRule } from './rule.ts';

/** What a gateway keeps of how runs ended, where it did not hear of the deletion. */
const KEPT_MS = 60_000;

/** What gateways cache of a key. A master that fails over may lose its revocation, see decision 0047. */
const CACHED_KEY_MS = 10_000;

/** A replica that takes over may have got neither a deletion nor its repetition. What it has of a run expires then, and no gateway answers with it. */
const BROUGHT_BACK_MS = 600_000;

/** These are read from the database each time. */
const IS_STORED = /^\/(api\/results|api\/graph|result|api\/polls$|api\/export|api\/keys)/;

/** These are answered to the caller that has the key. */
const NEEDS_KEY = /^\/api\/(polls$|export|keys)/;

export const deletionRules: readonly CampaignRule[] = [
  {
    name: 'no text of a deleted poll or account is left in a table, in Redis, in a log or in an export',
    broken(history) {
      const erased = erasedIn(history);
      const logged = (place: string) => place.startsWith('log');
      return (
        (history.promised?.found ?? [])
          // What is written down in a log stays there, deleted or not.
          .filter((one) => (erased.has(one.marker) || logged(one.place)) && !isBroughtBack(history, one))
          .map(({ marker, place }) => `${marker} of operation ${erased.get(marker)} is in ${place}`)
      );
    },
  },
  {
    name: 'what was deleted is answered by no gateway: stored results at once, ends of runs within a minute',
    broken({ operations, faults }) {
      const mayComeBack = faults.some(({ kind }) => MASTER_FAULTS.includes(kind));
      const keptMs = (path: string) => {
        if (!IS_STORED.test(path)) return KEPT_MS;
        return mayComeBack && NEEDS_KEY.test(path) ? CACHED_KEY_MS : 0;
      };
      return operations.flatMap(({ n, erasure }) =>
        (erasure?.reads ?? [])
          .filter(({ status, path, at }) => status < 400 && at > erasure!.at! + keptMs(path))
          .map(
            ({ path, gateway, at, status }) =>
              `operation ${n}: ${gateway} ${path} ${status} after ${at - erasure!.at!} ms`,
          ),
      );
    },
  },
];

const erasedIn = ({ operations }: CampaignHistory): Map<string, number> =>
  new Map(operations.flatMap(({ n, erasure }) => (erasure && erasure.at !== null ? [[erasure.marker, n]] : [])));

const isBroughtBack = ({ faults }: CampaignHistory, { goesInMs }: Found): boolean =>
  goesInMs !== undefined && goesInMs <= BROUGHT_BACK_MS && faults.some(({ kind }) => MASTER_FAULTS.includes(kind));

/** Deleted texts that a failover of Redis brought back, for ten minutes at most. */
export const broughtBack = (history: CampaignHistory): number => {
  const erased = erasedIn(history);
  return (history.promised?.found ?? []).filter((one) => erased.has(one.marker) && isBroughtBack(history, one)).length;
};
