import { leafOf, rootFrom, sealOf } from '../hashes.ts';
import { fails, holds, type PartState, unchecked } from '../part.ts';
import type { Proof, SealedDay } from '../receipt.ts';

/** The sealed day has this receipt. `days` are the published ones, where they are at hand. */
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
  return isSame
    ? holds(`It is receipt ${proof.index + 1} of ${proof.receipts} of ${proof.day}, as published.`)
    : fails(`The published root or seal of ${proof.day} is another.`);
}
