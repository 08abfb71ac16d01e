import { UsageError } from '../../terminal/command.ts';

// A step of a sequence, small enough to be stored and printed: the operation, the caller, the manner, and the seed for
// the rest of the request.

export const ACTORS = ['a', 'b', 'n'] as const;
/** Two accounts, and a caller without an account. */
export type Actor = (typeof ACTORS)[number];
export type Party = Exclude<Actor, 'n'>;

export const MANNERS = [
  /** A correct request, with things of this account. */
  'good',
  /** With things of the other account. */
  'foreign',
  /** With things that were deleted, revoked, used up or logged out. */
  'ended',
  /** With an id of its own with one character removed, added or changed. */
  'bent',
  /** The same bytes as an earlier request that succeeded. */
  'again',
  /** The Idempotency-Key of an earlier request with another body. */
  'reused',
  /** The same request twice at the same time. */
  'twice',
  /** Disconnects at the first bytes of the answer. */
  'left',
  /** With hostile texts in all text fields. */
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
