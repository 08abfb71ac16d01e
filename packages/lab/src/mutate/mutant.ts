import { type Static, Type } from '@sinclair/typebox';

/** One small wrong change of a text: what stands from `start` to `end` is replaced. */
export const Mutant = Type.Readonly(Type.Object({ start: Type.Integer(), end: Type.Integer(), text: Type.String() }));
export type Mutant = Static<typeof Mutant>;

export const applied = (source: string, { start, end, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end);

/** `file:line: what it was -> what it is`. */
export function shown(name: string, source: string, { start, end, text }: Mutant): string {
  const line = source.slice(0, start).split('\n').length;
  const brief = (part: string) => part.replace(/\s+/g, ' ').slice(0, 60) || 'nothing';
  return `${name}:${line}: ${brief(source.slice(start, end))} -> ${brief(text)}`;
}
