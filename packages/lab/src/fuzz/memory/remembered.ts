import type { Draws } from './draws.ts';
import type { Actor, Manner, Party } from './step.ts';

// What the answers of a sequence contained so far: ids, names, cursors, codes, and whether each is still valid.

export const THING_KINDS = [
  'session',
  'result',
  'batch',
  'key-id',
  'endpoint',
  'delivery',
  'panel',
  'cursor',
  'grant',
  'state',
  'checkout',
] as const;
export type ThingKind = (typeof THING_KINDS)[number];

/** `unsure`: an answer was lost, or it is not certain what ended the thing. */
export type ThingStanding = 'live' | 'ended' | 'unsure';

export interface Thing {
  readonly kind: ThingKind;
  readonly value: string;
  readonly owner: Actor;
  standing: ThingStanding;
}

/** How a named thing relates to the sender of the request. */
export type Named = 'own' | 'foreign' | 'ended' | 'bent' | 'unsure' | 'unknown';

const UNKNOWN: Readonly<Record<ThingKind, string>> = {
  session: 'ps_aaaaaaaaaaaaaaaaaaaaaaaa',
  result: 'EP-2026-01-01-0123456789abcdef',
  batch: 'pb_aaaaaaaaaaaaaaaaaaaaaaaa',
  'key-id': '00000000-0000-4000-8000-000000000000',
  endpoint: 'we_00000000000000000000000000000000',
  delivery: 'wd_00000000000000000000000000000000',
  panel: 'nothing-of-that-name',
  cursor: 'MQ',
  grant: 'nothing',
  state: 'x',
  checkout: 'cs_test_0',
};

export class Remembered {
  readonly things: Thing[] = [];
  /** Result ids by session id, from answers with both. */
  readonly resultOf = new Map<string, string>();
  readonly tags = new Map<string, string>();
  /** Checkouts that an event may have paid. */
  readonly paid = new Set<string>();

  note(kind: ThingKind, value: string, owner: Actor, standing: ThingStanding = 'live'): void {
    const known = this.find(kind, value, owner);
    // A panel's name is chosen by its account and can be used again.
    if (known && kind === 'panel') known.standing = standing;
    if (!known) this.things.push({ kind, value, owner, standing });
  }

  find(kind: ThingKind, value: string, owner: Actor): Thing | undefined {
    return this.things.find((thing) => thing.kind === kind && thing.value === value && thing.owner === owner);
  }

  end(kind: ThingKind, value: string, owner: Actor, standing: ThingStanding = 'ended'): void {
    const known = this.find(kind, value, owner);
    if (known) known.standing = standing;
    const result = kind === 'session' ? this.resultOf.get(value) : undefined;
    if (result !== undefined) this.end('result', result, owner, standing);
  }

  /** A request without an answer may have ended it. For a poll, this includes the other of its two ids. */
  doubt(value: string, owner: Actor): void {
    const ids = [...this.resultOf].find((pair) => pair.includes(value)) ?? [value];
    for (const thing of this.things)
      if (thing.owner === owner && thing.standing === 'live' && ids.includes(thing.value)) thing.standing = 'unsure';
  }

  endAll(owner: Party, kinds: readonly ThingKind[], standing: ThingStanding = 'ended'): void {
    for (const thing of this.things)
      if (thing.owner === owner && kinds.includes(thing.kind) && thing.standing !== 'ended') thing.standing = standing;
  }

  of(kind: ThingKind, owner: Actor, standing: ThingStanding = 'live'): Thing[] {
    return this.things.filter((thing) => thing.kind === kind && thing.owner === owner && thing.standing === standing);
  }

  /** Both accounts may have a panel of the same name. */
  #othersOf(kind: ThingKind, party: Party): Thing[] {
    return this.of(kind, otherThan(party)).filter(({ value }) => !this.find(kind, value, party));
  }

  choose(kind: ThingKind, actor: Actor, manner: Manner, draws: Draws): { value: string; named: Named } {
    const own = actor === 'n' ? this.things.filter((thing) => thing.kind === kind) : this.of(kind, actor);
    const chosen = (list: readonly Thing[], named: Named) =>
      list.length === 0
        ? { value: UNKNOWN[kind], named: 'unknown' as const }
        : { value: (draws.oneIn(3) ? draws.of(list) : list.at(-1)!).value, named };
    if (actor === 'n') return chosen(own, 'unsure');
    switch (manner) {
      case 'foreign':
        return chosen(this.#othersOf(kind, actor), 'foreign');
      case 'ended':
        return chosen(this.of(kind, actor, 'ended'), 'ended');
      case 'bent': {
        const { value, named } = chosen(own, 'bent');
        return { value: bent(value, draws), named };
      }
      default:
        return chosen(own, 'own');
    }
  }
}

export const otherThan = (party: Party): Party => (party === 'a' ? 'b' : 'a');

function bent(value: string, draws: Draws): string {
  const at = value.length - 1 - draws.below(Math.min(12, value.length - 1));
  const other = value[at] === '7' ? '8' : '7';
  const changed = [
    value.slice(0, at) + other + value.slice(at + 1),
    value.slice(0, -1),
    `${value}7`,
    `${value.slice(0, at)}7${value.slice(at)}`,
    value.slice(0, 2),
  ];
  return draws.of(changed.filter((text) => text !== value));
}
