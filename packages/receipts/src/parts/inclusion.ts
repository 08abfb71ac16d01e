import { leafOf, rootFrom, sealOf } from '../hashes.ts';
import { fails, holds, type PartState, unchecked } from '../part.ts';
import type { Proof, SealedDay } from '../receipt.ts';

/** Checks that the sealed day contains this receipt. `days`: the published days, if available. */
export async function checkInclusion(
  payload: Uint8Array,
  proof: Proof | null,
  days: readonly SealedDay[] | undefined,
): Promise<PartState> {
  if (proof === null) return unchecked('Its day is not sealed yet: ask again after the UTC day has ended.');
  if ((await rootFrom(await leafOf(payload), proof)) !== proof.root)
    return fails('The proof does not lead from this receipt to the root of its day.');
  if ((await sealOf(proof)) !== proof.seal)
    return fails('The seal is not that of this day, its root and the seal before.');
  const published = days?.find(({ day }) => day === proof.day);
  if (published === undefined)
    return unchecked(
      `The proof is of ${proof.day}, whose published seal is not at hand: anyone can make such a proof.`,
    );
  const isSame =
    published.root === proof.root && published.seal === proof.seal && published.receipts === proof.receipts;
  if (!isSame) return fails(`The published root or seal of ${proof.day} is another.`);
  const unchained = await firstUnchained(days ?? []);
  if (unchained !== null) return fails(`The seal of ${unchained} does not follow from that of the day before it.`);
  return holds(`It is receipt ${proof.index + 1} of ${proof.receipts} of ${proof.day}, as published.`);
}

/** The first day whose seal does not follow from that of the day before. Days are listed without gaps. */
async function firstUnchained(days: readonly SealedDay[]): Promise<string | null> {
  const oldestFirst = days.toSorted((a, b) => (a.day < b.day ? -1 : 1));
  for (const [i, day] of oldestFirst.entries()) {
    const before = oldestFirst[i - 1];
    if (before !== undefined && (await sealOf({ ...day, previous_seal: before.seal })) !== day.seal) return day.day;
  }
  return null;
}
