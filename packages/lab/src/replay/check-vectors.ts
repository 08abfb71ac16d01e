import { Failure } from '@eloquentpoll/launch/failure';
import { confidence, isLocked } from '@eloquentpoll/voting';

// Confidence against exact figures of an independent program. A figure that the file does not have is counted as
// missing, never as passed.

export interface VectorFigures {
  readonly vectors: number;
  /** Confidences that were compared with an exact fraction. */
  readonly exact: number;
  /** The same at a failure rate of 0.1. */
  readonly withFailures: number;
  /** Figures that the file lacks although there is a leader. */
  readonly missing: number;
  readonly maxError: number;
  /** Vectors whose leader or lock is not ours. */
  readonly contradicted: number;
}

interface Vector {
  readonly votes: readonly number[];
  readonly remaining: number;
  readonly leader: number | null;
  readonly locked: boolean;
  readonly confidence: string | null;
  readonly confidence_failure_rate_0_1: number | null;
}

export function checkVectors(text: string, name: string): VectorFigures {
  const vectors = parse(text, name);
  let [exact, withFailures, missing, maxError, contradicted] = [0, 0, 0, 0, 0];
  for (const vector of vectors) {
    if (leaderOf(vector.votes) !== vector.leader || isLocked(vector.votes, vector.remaining) !== vector.locked) {
      contradicted += 1;
      continue;
    }
    if (vector.leader === null) continue;
    const compare = (phi: number, figure: number | null) => {
      if (figure === null) missing += 1;
      else maxError = Math.max(maxError, Math.abs(confidence(vector.votes, vector.remaining, phi)! - figure));
      return Number(figure !== null);
    };
    exact += compare(0, vector.confidence === null ? null : fraction(vector.confidence));
    withFailures += compare(0.1, vector.confidence_failure_rate_0_1);
  }
  return { vectors: vectors.length, exact, withFailures, missing, maxError, contradicted };
}

/** Nothing contradicted, and every figure that the file has is met to twelve places. */
export const vectorsPass = ({ exact, maxError, contradicted }: VectorFigures): boolean =>
  exact > 0 && contradicted === 0 && maxError <= 1e-12;

function parse(text: string, name: string): readonly Vector[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Failure(`${name}: ${error instanceof Error ? error.message : error}`);
  }
  const vectors = parsed !== null && typeof parsed === 'object' && 'vectors' in parsed ? parsed.vectors : undefined;
  if (!Array.isArray(vectors)) throw new Failure(`${name}: expected an object with a list "vectors"`);
  for (const [i, vector] of vectors.entries())
    if (!isVector(vector)) throw new Failure(`${name}: vector ${i + 1} lacks a field or has one of another type`);
  return vectors;
}

function isVector(value: unknown): value is Vector {
  if (value === null || typeof value !== 'object') return false;
  const { votes, remaining, leader, locked, confidence, confidence_failure_rate_0_1 } = value as Record<
    string,
    unknown
  >;
  return (
    Array.isArray(votes) &&
    votes.every((count) => Number.isInteger(count) && count >= 0) &&
    Number.isInteger(remaining) &&
    (leader === null || Number.isInteger(leader)) &&
    typeof locked === 'boolean' &&
    (confidence === null || (typeof confidence === 'string' && /^\d+(\/\d+)?$/.test(confidence))) &&
    (confidence_failure_rate_0_1 === null || typeof confidence_failure_rate_0_1 === 'number')
  );
}

function leaderOf(votes: readonly number[]): number | null {
  const best = Math.max(...votes);
  return votes.filter((count) => count === best).length === 1 ? votes.indexOf(best) : null;
}

/** "a/b" as a number, exact to the last bit but one however long its digits are. */
function fraction(text: string): number {
  const [numerator, denominator = '1'] = text.split('/');
  const scale = 10n ** 30n;
  return Number((BigInt(numerator!) * scale) / BigInt(denominator)) / 1e30;
}
