import { MASTER_FAULTS } from '../fault-kinds.ts';
import type { Found } from '../find-markers.ts';
import type { CampaignHistory } from '../history.ts';
import type { Erasure } from '../operations.ts';
import type { CampaignRule } from './rule.ts';

/** How long a gateway caches how a run ended, if it did not learn of the deletion. */
const KEPT_MS = 60_000;

/**
 * How long gateways cache a key. A failover of a master may lose its revocation: decision 0047. A gateway that dies
 * after its commit, while Redis is away, cannot invalidate it, and the retry no longer knows which key it was: 0056.
 */
const CACHED_KEY_MS = 10_000;

/**
 * A promoted replica may have missed a deletion and its repetition. Its copy of the run expires after this time, and no
 * gateway returns it.
 */
const BROUGHT_BACK_MS = 600_000;

/** Paths that always read from the database. */
const IS_STORED = /^\/api\/(batches|polls$|export|keys)/;

const GONE = [404, 410];
/** After so many deletions of a kind, at least one must be of results that strangers had read before. */
const MANY = 10;

export const deletionRules: readonly CampaignRule[] = [
  {
    name: 'no text of a deleted poll or account is left in a table, in Redis, in a log or in an export',
    broken(history) {
      const erased = erasedIn(history);
      const logged = (place: string) => place.startsWith('log');
      return (
        (history.promised?.found ?? [])
          // Log lines stay after a deletion, so a marker in a log is always wrong.
          .filter((one) => (erased.has(one.marker) || logged(one.place)) && !isBroughtBack(history, one))
          .map(({ marker, place }) => `${marker} of operation ${erased.get(marker)} is in ${place}`)
      );
    },
  },
  {
    name: 'what was deleted is answered by no gateway to its key: what is stored at once, ends of runs within a minute',
    broken({ operations, faults }) {
      const mayComeBack = faults.some(({ kind }) => MASTER_FAULTS.includes(kind));
      const keptMs = (path: string, { what, isConfirmed }: Erasure) => {
        if (!IS_STORED.test(path)) return KEPT_MS;
        // Only deleting an account revokes its key.
        return what === 'account' && (mayComeBack || !isConfirmed) ? CACHED_KEY_MS : 0;
      };
      return operations.flatMap(({ n, erasure }) =>
        (erasure?.reads ?? [])
          .filter(({ status, path, at }) => status < 400 && at >= erasure!.at! + keptMs(path, erasure!))
          .map(
            ({ path, gateway, at, status }) =>
              `operation ${n}: ${gateway} ${path} ${status} after ${at - erasure!.at!} ms`,
          ),
      );
    },
  },
  {
    name: 'a result that was deleted is not answered any more, by no gateway',
    broken: ({ operations }) =>
      operations.flatMap(({ n, erasure }) =>
        (erasure?.publicReads.after ?? [])
          .filter(({ status }) => status < 500 && !GONE.includes(status))
          .map(
            ({ path, gateway, at, status }) =>
              `operation ${n}: ${gateway} ${path} ${status}, ${at - erasure!.at!} ms after its ${erasure!.what} was deleted`,
          ),
      ),
  },
  {
    name: 'a result is answered to everybody until it is deleted, and deletions are of results that were',
    broken({ operations }) {
      const deleted = operations.flatMap(({ n, erasure }) => (erasure ? [{ n, ...erasure }] : []));
      const withoutResult = deleted.flatMap(({ n, publicReads: { before } }) =>
        before
          .filter(({ status }) => status < 500 && status !== 200)
          .map(({ path, gateway, status }) => `operation ${n}: ${gateway} ${path} ${status} before`),
      );
      const kinds = Map.groupBy(
        deleted.filter(({ at }) => at !== null),
        ({ what }) => what,
      );
      const unshown = [...kinds].filter(([, all]) => all.length >= MANY && !all.some(wasShown));
      return [
        ...withoutResult,
        ...unshown.map(([what, { length }]) => `${length} deletions (${what}), none of a result that was read before`),
      ];
    },
  },
];

const wasShown = ({ publicReads: { before } }: Erasure): boolean => before.some(({ status }) => status === 200);

const countOf = (erasures: readonly Erasure[], what: Erasure['what']): number =>
  erasures.filter((erasure) => erasure.what === what).length;

/** How often strangers had read what was then deleted. Without such reads, the rule would prove nothing. */
export function publicReadCounts({ operations }: CampaignHistory): Record<string, number> {
  const deleted = operations.flatMap(({ erasure }) => (erasure && erasure.at !== null ? [erasure] : []));
  const shown = deleted.filter(wasShown);
  const gone = deleted.flatMap(({ publicReads: { after } }) => after.filter(({ status }) => GONE.includes(status)));
  return {
    'polls deleted whose results strangers had read': countOf(shown, 'poll'),
    'batches deleted whose results strangers had read': countOf(shown, 'batch'),
    'accounts deleted whose results strangers had read': countOf(shown, 'account'),
    'reads of deleted results by strangers, answered as gone': gone.length,
  };
}

const erasedIn = ({ operations }: CampaignHistory): Map<string, number> =>
  new Map(operations.flatMap(({ n, erasure }) => (erasure && erasure.at !== null ? [[erasure.marker, n]] : [])));

const isBroughtBack = ({ faults }: CampaignHistory, { goesInMs }: Found): boolean =>
  goesInMs !== undefined && goesInMs <= BROUGHT_BACK_MS && faults.some(({ kind }) => MASTER_FAULTS.includes(kind));

/** Number of deleted texts that a Redis failover restored, for ten minutes at most. */
export const broughtBack = (history: CampaignHistory): number => {
  const erased = erasedIn(history);
  return (history.promised?.found ?? []).filter((one) => erased.has(one.marker) && isBroughtBack(history, one)).length;
};
