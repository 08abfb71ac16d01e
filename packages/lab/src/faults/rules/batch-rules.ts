import type { CampaignHistory } from '../history.ts';
import { customIdOf } from '../operations.ts';
import { type CampaignRule, countBy, sum } from './rule.ts';

export const batchRules: readonly CampaignRule[] = [
  {
    name: 'a row of a batch is run once',
    broken: ({ polls }) =>
      [
        ...countBy(
          polls.filter(({ row }) => row !== null),
          ({ row }) => row!,
        ),
      ]
        .filter(([, times]) => times > 1)
        .map(([row, times]) => `${row} has ${times} polls`),
  },
  {
    name: 'a batch that is answered names each of its rows once',
    broken: ({ operations }) =>
      operations.flatMap(({ n, outcome, rows }) => {
        if (outcome !== 'ok' || !rows) return [];
        const twice = [...rows.answered].filter(([, times]) => times > 1);
        const lost = rows.sent - rows.answered.size;
        return lost === 0 && twice.length === 0
          ? []
          : [`operation ${n}: ${lost} rows of ${rows.sent} are missing, ${twice.length} are there more than once`];
      }),
  },
  {
    name: 'each row of a batch is answered by its own poll',
    broken({ operations, polls }) {
      const rowOf = new Map(polls.map(({ id, row }) => [id, row]));
      return operations.flatMap(({ n, named, rows }) => {
        if (!rows) return [];
        const lineOf = new Map(Array.from({ length: rows.sent }, (_, i) => [customIdOf(i + 1), i + 1] as const));
        return [...rows.polls].flatMap(([customId, pollId]) => {
          const row = rowOf.get(pollId) ?? null;
          const isOwn = [...named].some((batch) => row === `${batch} ${lineOf.get(customId)}`);
          return isOwn ? [] : [`operation ${n}: ${customId} is answered by ${pollId}, which is of ${row ?? 'no row'}`];
        });
      });
    },
  },
  {
    name: 'every batch ends with all of its rows, costs what its polls did, and reserves nothing then',
    broken({ batches, polls }) {
      const captured = new Map<string, bigint>();
      for (const { row, postedU } of polls) {
        const batch = row?.split(' ')[0];
        if (batch !== undefined) captured.set(batch, (captured.get(batch) ?? 0n) + postedU);
      }
      return batches.flatMap(({ id, status, total, ended, costU, reservedU }) => {
        const isOpen = status === 'running' || status === 'canceling';
        const cost = captured.get(id) ?? 0n;
        return !isOpen && ended === total && costU === cost && reservedU === 0n
          ? []
          : [
              `${id}: ${status}, ${ended} of ${total} rows, ${costU} counted and ${cost} captured, ${reservedU} reserved`,
            ];
      });
    },
  },
];

/** Rows of accepted batches, and how many of them have no outcome or answer, or more than one poll or charge. */
export function rowsOfBatches({ operations, batches, polls }: CampaignHistory): { accepted: number; wrong: number } {
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  const asked = operations.flatMap(({ rows, named, outcome }) =>
    rows && named.size > 0 ? [{ rows, named, outcome }] : [],
  );
  const lost = asked.map(({ rows: { sent, answered }, named, outcome }) => {
    const stored = sum([...named].map((id) => byId.get(id)?.ended ?? 0));
    const known = outcome === 'ok' ? Math.min(stored, answered.size) : stored;
    return Math.max(0, sent - known);
  });
  const ofRows = polls.filter(({ row }) => row !== null);
  const twice = [...countBy(ofRows, ({ row }) => row!)].filter(([, times]) => times > 1).length;
  const billedTwice = ofRows.filter(({ posts }) => posts > 1).length;
  return { accepted: sum(asked.map(({ rows }) => rows.sent)), wrong: sum(lost) + twice + billedTwice };
}
