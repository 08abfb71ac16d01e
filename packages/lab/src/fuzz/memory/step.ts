import { UsageError } from '../../terminal/command.ts';

// A step of a sequence, small enough to be kept and printed: what is asked, by whom, in which manner, and the seed that
// everything else of the request is drawn from.

export const ACTORS = ['a', 'b', 'n'] as const;
/** Two accounts, and a caller without one. */
export type Actor = (typeof ACTORS)[number];
export type Party = Exclude<Actor, 'n'>;

export const MANNERS = [
  /** As it should be, with what this account owns. */
  'good',
  /** With what the other account owns. */
  'foreign',
  /** With what was deleted, revoked, used up or signed out. */
  'ended',
  /** With an own id that lost, gained or changed a character. */
  'bent',
  /** The same bytes as an earlier request that was answered well. */
  'again',
  /** The Idempotency-Key of an earlier request, with another body. */
  'reused',
  /** The same request twice at the same moment. */
  'twice',
  /** The connection ends with the first bytes of the answer. */
  'left',
  /** With hostile texts wherever a text may stand. */
  'hostile',
  /** Wrong in one part or in all. */
  'wild',
] as const;
export type Manner = (typeof MANNERS)[number];

export interface FuzzStep {
  readonly operation: string;
  readonly actor: Actor;
  readonly manner: Manner;
  readonly seed: number;
}

export const stepsText = (steps: readonly FuzzStep[]): string =>
  steps.map(({ operation, actor, manner, seed }) => `${operation}.${actor}.${manner}.${seed.toString(36)}`).join(',');

export const parseSteps = (text: string): FuzzStep[] =>
  text.split(',').map((part) => {
    const [operation = '', actor, manner, seed = ''] = part.trim().split('.');
    const step = {
      operation,
      actor: ACTORS.find((known) => known === actor),
      manner: MANNERS.find((known) => known === manner),
      seed: Number.parseInt(seed, 36),
    };
    if (step.actor === undefined || step.manner === undefined || !Number.isInteger(step.seed))
      throw new UsageError(`"${part}" is no step such as createKey.a.good.4f`);
    return step as FuzzStep;
  });
