// The statement of a receipt and how it is sent: a JWS in flattened JSON (RFC 7515), with the proof that the sealed day
// contains it, and, for the poll's owner, what it cost.
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

/** Version of the statement's members and their meaning. */
export const RECEIPT_VERSION = 1;
/**
 * Version of the rules in `voting`: raised when they would decide a poll differently or give other odds. 2: a lock with
 * failed models is `partial` if failed and unasked models together could have changed the winner. 3: the final odds of a
 * `partial` result count failed models as still to vote.
 */
export const RULE_VERSION = 3;
/** Receipts by rules from this version on are recomputed. */
export const OLDEST_RECOMPUTED_RULES = 2;

const REASONS = ['mathematical_lock', 'confidence', 'budget', 'roster_exhausted'] as const;

const Seat = hasMembers({ model_id: isText, family: isText, failure_rate: isProbability });

const StoodAlike = hasMembers({ audits: isCount, same_leader: isCount });

const Vote = hasMembers(
  {
    seat: isCount,
    /** Index of the option. Null if the model gave no vote. */
    option: isOrNull(isCount),
    error: isOrNull(isText),
    latency_ms: isCount,
  },
  {
    /** Time since the poll was accepted. This and the odds are missing if an earlier worker received the vote. */
    at_ms: isCount,
    confidence: isOrNull(isProbability),
    chances: isListOf(isProbability),
    /** Audited polls in a similar state, if a track record was used. */
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
  /** In asking order. */
  panel: isListOf(Seat),
  rule: hasMembers(
    { version: isCount, threshold: isProbability, min_votes: isCount },
    /**
     * Present if a track record was used. `lock_only`: after an alarm, or without the record, only a lock stops a poll.
     */
    { record: hasMembers({ roster_version: isText, lock_only: isFlag }) },
  ),
  /** In order of arrival. */
  votes: isListOf(Vote),
  decision: hasMembers(
    {
      /** Null if the deadline or the caller ended the poll. */
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
  /** SHA-256 of the price, which only the poll's owner can show. */
  price_sha256: isText,
});
type Of<C> = C extends Check<infer T> ? T : never;
export type Statement = Of<typeof isStatement>;

/** The poll's maximum and actual cost, in micro-USD. Without the nonce, its hash could be reversed by trying prices. */
export const isPrice = hasMembers({
  nonce: isText,
  max_cost_u: isCount,
  /** For each seat, the maximum that can be billed for its vote. */
  reserves_u: isListOf(isCount),
  /** For each vote, what was billed, and the cost of calls that failed because of the question. */
  votes: isListOf(hasMembers({ billed_u: isCount, fault_u: isCount })),
});
export type ReceiptPrice = Of<typeof isPrice>;

const isProof = hasMembers({
  day: isText,
  /** The number of receipts of the day, and the index of this one. */
  receipts: isCount,
  index: isCount,
  path: isListOf(isText),
  root: isText,
  previous_seal: isOrNull(isText),
  seal: isText,
});
export type Proof = Of<typeof isProof>;

/** `proof` is null until the day is sealed. */
export const isReceipt = hasMembers(
  { payload: isText, protected: isText, signature: isText, proof: isOrNull(isProof) },
  { price: isPrice },
);
export type SignedReceipt = Of<typeof isReceipt>;

/** A sealed day as published. */
export interface SealedDay {
  readonly day: string;
  readonly receipts: number;
  readonly root: string;
  readonly seal: string;
}
