// What a receipt says, and how it is sent: a JWS in flattened JSON (RFC 7515), beside it the proof that the sealed day
// holds it, and for the poll's owner what it cost.
import {
  type Check,
  hasMembers,
  isCount,
  isFlag,
  isListOf,
  isOneOf,
  isOrNull,
  isProbability,
  isText,
} from './shape.ts';

/** Of the statement's members and what they mean. */
export const RECEIPT_VERSION = 1;
/**
 * Of the rules in `voting`: raised when they would decide a poll otherwise or give other odds. 2: a lock beside failed
 * models is `partial` where failed and unasked ones together could have changed the winner.
 */
export const RULE_VERSION = 2;

const REASONS = ['mathematical_lock', 'confidence', 'budget', 'roster_exhausted'] as const;

const Seat = hasMembers({ model_id: isText, family: isText, failure_rate: isProbability });

const StoodAlike = hasMembers({ audits: isCount, same_leader: isCount });

const Vote = hasMembers(
  {
    seat: isCount,
    /** By its place among the options; null for a model that gave no vote. */
    option: isOrNull(isCount),
    error: isOrNull(isText),
    latency_ms: isCount,
  },
  {
    /** Since the poll was accepted. With the odds absent where an earlier worker received the vote. */
    at_ms: isCount,
    confidence: isOrNull(isProbability),
    chances: isListOf(isProbability),
    /** What the track record knew of polls that stood like this one, where it had a say. */
    record: StoodAlike,
  },
);

export const isStatement = hasMembers({
  version: isCount,
  result_id: isText,
  /** SHA-256 of the question in Unicode form NFC as UTF-8. */
  question_sha256: isText,
  options: isListOf(isText),
  preset: isText,
  simulated: isFlag,
  order: isOneOf(['cheapest', 'shuffled']),
  /** In the order in which models are asked. */
  panel: isListOf(Seat),
  rule: hasMembers(
    { version: isCount, threshold: isProbability, min_votes: isCount },
    /** Where a track record has a say. After an alarm, or without what is on record, nothing but a lock stops a poll. */
    { record: hasMembers({ roster_version: isText, lock_only: isFlag }) },
  ),
  /** In the order in which they arrived. */
  votes: isListOf(Vote),
  decision: hasMembers(
    {
      /** Null where the deadline ended the poll. */
      reason: isOrNull(isOneOf(REASONS)),
      status: isOneOf(['success', 'partial', 'failed']),
      winner: isOrNull(isCount),
      tie: isFlag,
      tally: isListOf(isCount),
      confidence: isOrNull(isProbability),
      chances: isListOf(isProbability),
      skipped: isCount,
    },
    { record: StoodAlike },
  ),
  times: hasMembers({ accepted_at: isText, gather_ms: isCount, total_ms: isCount }),
  /** SHA-256 of the price, which its owner can show. */
  price_sha256: isText,
});
type Of<C> = C extends Check<infer T> ? T : never;
export type Statement = Of<typeof isStatement>;

/** What the poll could cost and did, in micro-USD. The nonce keeps it from being found by trying. */
export const isPrice = hasMembers({
  nonce: isText,
  max_cost_u: isCount,
  /** By seat: the most that its vote could be billed. */
  reserves_u: isListOf(isCount),
  /** By vote: what it was billed, and what calls cost that the question made fail. */
  votes: isListOf(hasMembers({ billed_u: isCount, fault_u: isCount })),
});
export type ReceiptPrice = Of<typeof isPrice>;

const isProof = hasMembers({
  day: isText,
  /** Receipts of the day, and this one's place among them. */
  receipts: isCount,
  index: isCount,
  path: isListOf(isText),
  root: isText,
  previous_seal: isOrNull(isText),
  seal: isText,
});
export type Proof = Of<typeof isProof>;

/** Null as proof: its day is not sealed yet. */
export const isReceipt = hasMembers(
  { payload: isText, protected: isText, signature: isText, proof: isOrNull(isProof) },
  { price: isPrice },
);
export type SignedReceipt = Of<typeof isReceipt>;

/** A sealed day as it is published. */
export interface SealedDay {
  readonly day: string;
  readonly receipts: number;
  readonly root: string;
  readonly seal: string;
}
