import { Failure } from '@eloquentpoll/launch/failure';
import { confidence, isLocked } from '@eloquentpoll/voting';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

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
  /** Vectors whose leader or lock differs from ours. */
  readonly contradicted: number;
}

const Count = Type.Integer({ minimum: 0 });
const Vector = Type.Object({
  votes: Type.Array(Count),
  remaining: Type.Integer(),
  leader: Type.Union([Type.Integer(), Type.Null()]),
  locked: Type.Boolean(),
  confidence: Type.Union([Type.String({ pattern: '^\\d+(/\\d+)?$' }), Type.Null()]),
  confidence_failure_rate_0_1: Type.Union([Type.Number(), Type.Null()]),
});
type Vector = Static<typeof Vector>;
const File = Type.Object({ vectors: Type.Array(Type.Unknown()) });

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
  if (!Value.Check(File, parsed)) throw new Failure(`${name}: expected an object with a list "vectors"`);
  return parsed.vectors.map((vector, i) => {
    if (Value.Check(Vector, vector)) return vector;
    throw new Failure(`${name}: vector ${i + 1} lacks a field or has one of another type`);
  });
}

function leaderOf(votes: readonly number[]): number | null {
  const best = Math.max(...votes);
  return votes.filter((count) => count === best).length === 1 ? votes.indexOf(best) : null;
}

/** "a/b" as a number, exact except for the last bits, however many digits a and b have. */
function fraction(text: string): number {
  const [numerator, denominator = '1'] = text.split('/');
  const scale = 10n ** 30n;
  return Number((BigInt(numerator!) * scale) / BigInt(denominator)) / 1e30;
}
