import { hash } from 'node:crypto';
import type { PollResponse, PollSpec, Timing } from '@eloquentpoll/contracts';
import {
  canonicalJson,
  RECEIPT_VERSION,
  type ReceiptPrice,
  RULE_VERSION,
  type Statement,
} from '@eloquentpoll/receipts';

// The signed statement about a poll. It is derived from stored data: once when the poll ends, for its hash, and again
// for each reader. A change that alters the text for stored polls needs a new RECEIPT_VERSION.

export interface Receipted {
  spec: PollSpec;
  /** As built by the worker, before charges that are added when it is stored. */
  response: PollResponse;
  acceptedAt: Date;
  /** For each vote, the cost of calls that failed because of the question, in micro-USD. */
  faultsU: readonly number[];
}

export function statementOf(poll: Receipted, ruleVersion = RULE_VERSION): Statement {
  const { spec, response, acceptedAt } = poll;
  const { timing } = response;
  const seats = new Map(spec.seats.map(({ model_id }, seat) => [model_id, seat]));
  const placeOf = (option: string | null) => (option === null ? null : spec.options.indexOf(option));
  // Members are in the order of canonical JSON, so that there is nothing left to sort.
  return {
    decision: {
      chances: response.chances ?? [],
      confidence: response.confidence,
      reason: response.termination_reason,
      ...(response.track_record && { record: response.track_record }),
      skipped: response.models_skipped,
      status: response.status,
      tally: spec.options.map((option) => response.tally[option]!),
      tie: response.is_tie,
      winner: placeOf(response.winning_option),
    },
    options: spec.options,
    order: response.asking?.order ?? 'shuffled',
    panel: spec.seats.map(({ failure_rate, family, model_id }) => ({ failure_rate, family, model_id })),
    preset: spec.panel_name,
    price_sha256: sha256(canonicalJson(receiptPrice(poll))),
    question_sha256: sha256(spec.question.normalize('NFC')),
    result_id: response.poll_id,
    rule: {
      min_votes: spec.min_votes,
      ...(response.asking && {
        record: { lock_only: response.asking.lock_only, roster_version: response.asking.roster_version },
      }),
      threshold: spec.confidence_threshold,
      version: ruleVersion,
    },
    simulated: spec.simulated,
    times: { accepted_at: acceptedAt.toISOString(), gather_ms: timing.gather_ms, total_ms: timing.total_ms },
    version: RECEIPT_VERSION,
    votes: response.votes.map(({ model_id, chosen_option, error, latency_ms }, i) => ({
      ...oddsAt(timing.arrivals?.[i]),
      error,
      latency_ms,
      option: placeOf(chosen_option),
      seat: seats.get(model_id)!,
    })),
  };
}

const oddsAt = (arrival: NonNullable<Timing['arrivals']>[number] | undefined) =>
  arrival && {
    at_ms: arrival.at_ms,
    ...(arrival.chances && { chances: arrival.chances }),
    confidence: arrival.confidence,
    ...(arrival.track_record && { record: arrival.track_record }),
  };

/** For the poll's owner. Only a hash of the seed is shown; callers never see the seed itself. */
export const receiptPrice = ({ spec, response, faultsU }: Receipted): ReceiptPrice => ({
  nonce: sha256(`price of ${spec.seed}`),
  max_cost_u: spec.max_cost_u,
  reserves_u: spec.seats.map(({ reserve_u }) => reserve_u),
  votes: response.votes.map(({ estimated_cost }, i) => ({
    billed_u: Math.round(estimated_cost * 1_000_000),
    fault_u: faultsU[i] ?? 0,
  })),
});

export const statementText = (poll: Receipted): string => canonicalJson(statementOf(poll));

/**
 * Rebuilds the statement whose hash was stored when the poll ended. Tries the current and all earlier rules, because
 * polls are stored without the version of the rules. Null if stored data has changed since.
 */
export function statementOfLeaf(poll: Receipted, leaf: Buffer): string | null {
  for (let version = RULE_VERSION; version >= 1; version--) {
    const text = canonicalJson(statementOf(poll, version));
    if (receiptLeaf(text).equals(leaf)) return text;
  }
  return null;
}

/** The receipt's leaf in the Merkle tree of its day: a leaf hash as in RFC 6962. */
export const receiptLeaf = (statement: string): Buffer => hash('sha256', `\0${statement}`, 'buffer');

const sha256 = (text: string): string => hash('sha256', text, 'base64url');
