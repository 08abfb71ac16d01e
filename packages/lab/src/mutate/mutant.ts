import { type Static, Type } from '@sinclair/typebox';

/** One small wrong change of a source text: the part from `start` to `end` is replaced. */
export const Mutant = Type.Readonly(
  Type.Object({
    start: Type.Integer(),
    end: Type.Integer(),
    text: Type.String(),
    /** The offset that is executed whenever the change has an effect, if it is not `start`. */
    reachedAt: Type.Optional(Type.Integer()),
  }),
);
export type Mutant = Static<typeof Mutant>;

export const applied = (source: string, { start, end, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end);

/** The first line that a mutant changes, as it was and as it became. */
export interface ChangedLine {
  readonly number: number;
  readonly line: string;
  readonly becomes: string;
}

export function changedLine(source: string, mutant: Mutant): ChangedLine {
  const before = source.slice(0, mutant.start).split('\n');
  const lineOf = (text: string) => (text.split('\n')[before.length - 1] ?? '').trim();
  return { number: before.length, line: lineOf(source), becomes: lineOf(applied(source, mutant)) };
}
