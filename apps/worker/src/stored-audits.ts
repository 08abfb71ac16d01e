import { LIMITS } from '@eloquentpoll/contracts';
import { type AuditState, auditBook, EMPTY_BOOK, soundState } from '@eloquentpoll/evidence';
import { minVotesOf } from '@eloquentpoll/polls';
import {
  type Audit,
  claimAudit,
  countAudits,
  finishAudit,
  type Lesson,
  learnAudits,
  type RosterVersion,
  type SpendCeiling,
  type Storage,
} from '@eloquentpoll/storage';
import type { AuditStore } from './ports.ts';

/** The audits of production: jobs and rows in Postgres, limited by the daily cap and the ceiling of provider spend. */
export const storedAudits = (
  storage: Storage,
  { dayCapU, ceiling }: { dayCapU: bigint; ceiling: SpendCeiling | undefined },
): AuditStore => ({
  areMade: dayCapU > 0n,
  claim: (lease) => claimAudit(storage, { ...lease, dayCapU, ceiling }),
  finish: (audit) => finishAudit(storage, audit),
  async learn() {
    const isCounted = await countAudits(storage);
    return (await learnAudits(storage, taught)) || isCounted;
  },
});

/**
 * The book of a roster version after a lesson. A damaged book is restarted empty, and `restartTrackRecord` refills it.
 */
export function taught({ roster, state, entered, forgotten }: Lesson): AuditState {
  const book = auditBook(
    {
      panelSize: roster.models.length,
      threshold: LIMITS.confidence_threshold.default,
      minVotes: minVotesOf(roster.panelName),
    },
    soundState(state) ?? EMPTY_BOOK,
  );
  for (const audit of entered) book.enter(asAsked(roster, audit));
  for (const audit of forgotten) book.forget(asAsked(roster, audit));
  return book.state;
}

/**
 * The audit in the order of the track record. If the poll was asked in that order, its votes keep the order in which
 * they arrived. If it was shuffled, the whole panel is known and is sorted by price.
 */
function asAsked({ order, models }: RosterVersion, { askedOrder, optionCount, seats, votes }: Audit) {
  const heard = seats.map((seat, i) => ({ seat, option: votes[i] ?? null }));
  const inOrder = askedOrder === order ? heard : heard.toSorted((a, b) => a.seat - b.seat);
  const unheard = [...models.keys()].filter((seat) => !seats.includes(seat));
  return {
    optionCount,
    votes: inOrder.map(({ option }) => option),
    families: [...inOrder.map(({ seat }) => seat), ...unheard].map((seat) => models[seat]!.family),
  };
}
