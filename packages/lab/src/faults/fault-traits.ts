import type { FaultKind } from './fault-kinds.ts';

// What figures and rules need to know of each fault. A new kind of fault does not compile until it has its row here.

interface FaultTraits {
  /** It kills a process, of ours or of a store: counted as a kill. */
  readonly isKill: boolean;
  /**
   * What it takes from a worker that could claim a poll: nothing where other processes of the same kind are up, a store
   * where Postgres or Redis is down, a master where some slots of a cluster have none.
   */
  readonly takes: 'nothing' | 'store' | 'master' | 'other';
  /** It hits something that the data of a stream or an upload may pass: not workers, replicas or moved slots. */
  readonly canCut: boolean;
}

const row = (isKill: boolean, takes: FaultTraits['takes'], canCut = true): FaultTraits => ({ isKill, takes, canCut });

const TRAITS: Readonly<Record<FaultKind, FaultTraits>> = {
  'kill worker': row(true, 'nothing', false),
  'kill gateway': row(true, 'nothing'),
  'kill gateway during an upload': row(true, 'nothing'),
  'term worker': row(false, 'nothing', false),
  'term gateway': row(false, 'nothing'),
  'stop worker': row(false, 'other', false),
  'stop gateway': row(false, 'nothing'),

  flushall: row(false, 'other'),
  'kill redis': row(true, 'store'),
  'kill redis, lose all': row(true, 'store'),
  'stop postgres at once': row(true, 'store'),
  'kill postgres': row(true, 'store'),
  'kill pooler': row(true, 'store'),
  'fail over': row(true, 'store'),
  // Gateways read from the primary then.
  'kill standby': row(true, 'nothing', false),
  'pause standby': row(false, 'nothing', false),
  'disk full': row(false, 'store'),

  'slow link': row(false, 'other'),
  'narrow link': row(false, 'other'),
  'sliced link': row(false, 'other'),
  'dead link': row(false, 'other'),
  'refusing link': row(false, 'other'),
  // Its process connects again at once.
  'reset link': row(false, 'nothing'),
  'half-open link': row(false, 'other'),

  'kill master': row(true, 'master'),
  'kill master, lose all': row(true, 'master'),
  'stop master': row(false, 'master'),
  'isolate master': row(false, 'master'),
  'master without clients': row(false, 'master'),
  'full master': row(false, 'master'),
  'kill replica': row(true, 'nothing', false),
  'flush masters': row(false, 'nothing'),
  'move slots': row(false, 'nothing', false),

  migrate: row(false, 'other', false),
  'roll forward': row(false, 'other', false),
  'roll back': row(false, 'other', false),
};

export const isProcessKill = (kind: FaultKind): boolean => TRAITS[kind].isKill;

export const takesOf = (kind: FaultKind): FaultTraits['takes'] => TRAITS[kind].takes;

export const canCut = (kind: FaultKind): boolean => TRAITS[kind].canCut;

export const faultKindsThat = (hasTrait: (kind: FaultKind) => boolean): FaultKind[] =>
  (Object.keys(TRAITS) as FaultKind[]).filter(hasTrait);
