import type { StreamProgress } from '../eloquentpoll.ts';
import { percentText } from './figures.ts';
import { plain } from './plain-text.ts';

/** The two most likely outcomes and the confidence that the poll needs: "SQLite 73% · Postgres 21% · needs 95%". */
export function oddsText(
  options: readonly string[],
  { chances, leader }: Pick<StreamProgress, 'chances' | 'leader'>,
  threshold: number,
): string | null {
  if (chances?.length !== options.length + 1) return null;
  const outcomes = chances.map((chance, i) => ({ name: options[i] ?? null, chance }));
  const isLeader = ({ name }: { name: string | null }) => leader !== null && name === leader;
  const [first, second] = outcomes.toSorted((a, b) => Number(isLeader(b)) - Number(isLeader(a)) || b.chance - a.chance);
  if (!first) return null;
  const nameOf = ({ name }: { name: string | null }) => (name === null ? 'a tie' : plain(name));
  if (first.chance >= 1) return `${nameOf(first)}: final`;
  const runnerUp = second && second.chance > 0 ? [`${nameOf(second)} ${percentText(second.chance)}`] : [];
  const needs = threshold < 1 ? `needs ${percentText(threshold)}` : 'needs certainty';
  return [`${nameOf(first)} ${percentText(first.chance)}`, ...runnerUp, needs].join(' · ');
}
