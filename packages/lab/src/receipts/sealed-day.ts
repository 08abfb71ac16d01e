import { createHash } from 'node:crypto';
import { receiptLeaf } from '@eloquentpoll/polls';
import type { Proof, SealedDay } from '@eloquentpoll/receipts';

// The Merkle tree of a day in memory, implemented independently of the one in SQL.

const sha256 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const text = (bytes: Buffer): string => bytes.toString('base64url');

export interface DayOfReceipts {
  readonly published: SealedDay;
  proofOf(statement: string): Proof;
}

/** `previous` is the seal of the day before. */
export function sealedDay(day: string, statements: readonly string[], previous: string | null = null): DayOfReceipts {
  const levels: Buffer[][] = [statements.map(receiptLeaf).toSorted(Buffer.compare)];
  for (let level = levels[0]!; level.length > 1; levels.push(level)) level = parents(level);
  const places = new Map(levels[0]!.map((leaf, index) => [leaf.toString('hex'), index]));
  const root = levels.at(-1)![0]!;
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(statements.length));
  const seal = text(sha256(Buffer.from(previous ?? '', 'base64url'), Buffer.from(day), size, root));
  const published = { day, receipts: statements.length, root: text(root), seal };
  return {
    published,
    proofOf(statement) {
      const index = places.get(receiptLeaf(statement).toString('hex'))!;
      const path = levels.flatMap((level, height) => {
        const neighbour = level[(index >> height) ^ 1];
        return neighbour === undefined || level.length === 1 ? [] : [text(neighbour)];
      });
      return { ...published, index, path, previous_seal: previous };
    },
  };
}

const parents = (level: readonly Buffer[]): Buffer[] =>
  level.flatMap((left, i) => {
    if (i % 2 === 1) return [];
    const right = level[i + 1];
    return right ? [sha256(Buffer.of(1), left, right)] : [left];
  });
