import type { ModelReputation } from '@eloquentpoll/contracts';
import type { ListedModel } from './models-filter.ts';

// The order of /models is in its address, so that it works without scripts and can be shared.

export interface ModelRow extends ListedModel {
  record: ModelReputation | undefined;
}

export interface Column {
  name: string;
  title: string;
  /** What the first click puts on top: the cheapest and fastest, or the best and most used. */
  first: 'lowest' | 'highest';
  /** Null sorts last in both directions. */
  valueOf(row: ModelRow): number | string | null;
}

export const COLUMNS: readonly Column[] = [
  { name: 'model', title: 'Model', first: 'lowest', valueOf: ({ model }) => model.id },
  { name: 'input', title: 'Input $/M', first: 'lowest', valueOf: ({ model }) => Number(model.price.input) },
  { name: 'output', title: 'Output $/M', first: 'lowest', valueOf: ({ model }) => Number(model.price.output) },
  { name: 'asked', title: 'Asked', first: 'highest', valueOf: ({ record }) => record?.ballots ?? 0 },
  { name: 'valid', title: 'Valid', first: 'highest', valueOf: ({ record }) => record?.success_rate ?? null },
  { name: 'time', title: 'Mean time', first: 'lowest', valueOf: ({ record }) => record?.average_latency_ms ?? null },
  { name: 'cost', title: 'Cost per vote', first: 'lowest', valueOf: ({ record }) => record?.average_cost_usd ?? null },
  {
    name: 'agreed',
    title: 'Agreed with panel',
    first: 'highest',
    valueOf: ({ record }) => record?.agreement_rate ?? null,
  },
];

export interface SortOrder {
  column: Column;
  direction: Column['first'];
}

/** `cost` is a column in its natural order, `-cost` in reverse; null for anything else. */
export function orderOf(sort = ''): SortOrder | null {
  const reversed = sort.startsWith('-');
  const column = COLUMNS.find(({ name }) => name === sort.slice(reversed ? 1 : 0));
  return column ? { column, direction: reversed ? opposite(column.first) : column.first } : null;
}

/** The sort parameter for a click on this column's header. */
export const nextSort = (column: Column, order: SortOrder | null): string =>
  order?.column === column && order.direction === column.first ? `-${column.name}` : column.name;

const opposite = (direction: Column['first']): Column['first'] => (direction === 'lowest' ? 'highest' : 'lowest');

export function sortRows(rows: readonly ModelRow[], order: SortOrder | null): ModelRow[] {
  if (!order) return [...rows];
  const sign = order.direction === 'lowest' ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [one, other] = [order.column.valueOf(a), order.column.valueOf(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * (one < other ? -1 : Number(one > other));
  });
}
