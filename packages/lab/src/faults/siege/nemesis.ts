import { setTimeout as sleep } from 'node:timers/promises';
import { type Chance, chance } from '../../terminal/chance.ts';
import { type Blow, type BlowKind, type Field, land } from './blows.ts';

// Several hands strike at the same time, each one blow after the other. The seed decides what, whom and when.

export interface Hand {
  readonly name: string;
  readonly gapMs: readonly [number, number];
  readonly blows: Partial<Record<BlowKind, number>>;
}

export interface Nemesis {
  readonly landed: readonly Blow[];
  /** What could not be done, such as a flush while Redis was away. */
  readonly missed: ReadonlyMap<string, number>;
  /** Resolves when every hand rests, after `field.signal` aborted or `enough` said so. */
  readonly done: Promise<void>;
}

export function unleash(
  hands: readonly Hand[],
  field: Field,
  seed: string,
  enough: (blows: readonly Blow[]) => boolean,
): Nemesis {
  const landed: Blow[] = [];
  const missed = new Map<string, number>();

  async function move({ name, gapMs, blows }: Hand): Promise<void> {
    const draw = chance(`${seed}|${name}`);
    while (!enough(landed)) {
      await sleep(draw.whole(gapMs[0], gapMs[1]), undefined, { signal: field.signal }).catch(() => undefined);
      if (field.signal.aborted) return;
      const kind = weighted(blows, draw);
      try {
        const blow = await land(kind, field, draw);
        if (blow) landed.push(blow);
        else missed.set(kind, (missed.get(kind) ?? 0) + 1);
      } catch (error) {
        if (kind !== 'flushall') throw new Error(`${kind} failed`, { cause: error });
        missed.set(kind, (missed.get(kind) ?? 0) + 1);
      }
    }
  }

  const done = Promise.all(hands.map(move)).then(() => undefined);
  done.catch(() => undefined);
  return { landed, missed, done };
}

function weighted(blows: Hand['blows'], draw: Chance): BlowKind {
  const entries = Object.entries(blows) as [BlowKind, number][];
  let at = draw.share() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [kind, weight] of entries) {
    at -= weight;
    if (at < 0) return kind;
  }
  return entries.at(-1)![0];
}
