import type { Fault } from '../fault-kinds.ts';
import type { CampaignHistory } from '../history.ts';
import type { Erasure, ListRead, RecordedOperation } from '../operations.ts';
import type { CampaignRule } from './rule.ts';

// Lists and exports, which a replica of Postgres may answer.

/** After so many deletions with lists, a replica must have answered at least one of these. */
const MANY = 50;
const EXPORT = '/api/export';

export const listRules: readonly CampaignRule[] = [
  {
    name: 'no list or export of its account shows what was deleted: at once where it was deleted, elsewhere within the lag',
    broken: ({ operations, faults, promised }) =>
      erasuresIn(operations).flatMap(([operation, erasure]) =>
        erasure.lists.after
          .filter(
            ({ shows, ...read }) => shows && read.asked >= erasure.at! + lagMsOf(operation, read, faults, promised),
          )
          .map(
            ({ path, gateway, asked }) =>
              `operation ${operation.n}: ${gateway} ${path}, asked ${asked - erasure.at!} ms after the deletion`,
          ),
      ),
  },
  {
    name: 'lists show what is not deleted yet, and a replica answers some of them',
    broken(history) {
      const erasures = erasuresIn(history.operations).filter(([, { lists }]) => lists.before.length > 0);
      // A replica may not have the poll yet, and an export does not say what answered it.
      const isLate = ({ path, isFromReplica }: ListRead) => isFromReplica || path === EXPORT;
      const unseen = erasures.flatMap(([{ n }, { lists }]) =>
        lists.before
          .filter((read) => !read.shows && !isLate(read))
          .map(({ path, gateway }) => `operation ${n}: ${gateway} ${path} does not show it before`),
      );
      const isUnanswered = history.promised?.lagMs && erasures.length >= MANY && byReplica(history) === 0;
      return isUnanswered ? [...unseen, `${erasures.length} deletions, and no list from a replica`] : unseen;
    },
  },
];

const erasuresIn = (operations: readonly RecordedOperation[]): [RecordedOperation, Erasure][] =>
  operations.flatMap((operation) =>
    operation.erasure && operation.erasure.at !== null ? [[operation, operation.erasure]] : [],
  );

/**
 * A gateway that answered a deletion knows of it as long as it lives. Others learn of it from Redis, which may be away;
 * then only the lag of the replica bounds the age of a list.
 */
function lagMsOf(
  { attempts, erasure }: RecordedOperation,
  { gateway, asked }: Pick<ListRead, 'gateway' | 'asked'>,
  faults: readonly Fault[],
  promised: CampaignHistory['promised'],
): number {
  const deletedBy = attempts.findLast(({ method }) => method === 'DELETE')?.gateway;
  const hasEnded = faults.some(
    ({ kind, target, at, until }) => ENDS.includes(kind) && target === gateway && until >= erasure!.at! && at <= asked,
  );
  return deletedBy === gateway && !hasEnded ? 0 : (promised?.lagMs ?? 0);
}

const ENDS: readonly string[] = ['kill gateway', 'term gateway', 'kill gateway during an upload'];

const byReplica = ({ operations }: Pick<CampaignHistory, 'operations'>): number =>
  erasuresIn(operations).flatMap(([, { lists }]) => lists.after.filter(({ isFromReplica }) => isFromReplica)).length;

export function listCounts(history: Pick<CampaignHistory, 'operations'>): Record<string, number> {
  const after = erasuresIn(history.operations).flatMap(([, { lists }]) => lists.after);
  return {
    'lists and exports after a deletion': after.length,
    'of these exports': after.filter(({ path }) => path === EXPORT).length,
    'lists after a deletion that a replica answered': byReplica(history),
    'lists that showed what was deleted, within the lag': after.filter(({ shows }) => shows).length,
  };
}
