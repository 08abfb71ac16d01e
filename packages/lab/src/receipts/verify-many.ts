import { type Receipted, type ReceiptSigner, receiptPrice, receiptSigner, statementText } from '@eloquentpoll/polls';
import { canonicalJson, type Known, type PartName, type Statement, verifyReceipt } from '@eloquentpoll/receipts';
import { type Chance, chance } from '../terminal/chance.ts';
import { drawnPoll } from './drawn-polls.ts';
import { FALSE_STATEMENTS, withOtherByte } from './forgeries.ts';
import { type DayOfReceipts, sealedDay } from './sealed-day.ts';

export interface Verification {
  readonly receipts: number;
  /** Valid receipts that were refused, with the part that does not hold and its message. */
  readonly failed: readonly string[];
  /** Reasons to stop, and how often. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly bytes: { readonly median: number; readonly max: number };
  readonly us: { readonly build: number; readonly sign: number; readonly verify: number };
  readonly forged: number;
  /** Forgeries that were accepted, or that the expected part did not detect. */
  readonly accepted: readonly string[];
  /** Changed receipts by the first part that failed, false statements by the part that must fail. */
  readonly refusedBy: ReadonlyMap<PartName, number>;
}

const DAY = '2026-11-20';

/** Verifies offline: with only the receipts, the public keys and the published day. */
export async function verifyMany(count: number, forgeries: number, seed: string): Promise<Verification> {
  const draw = chance(seed);
  const signer = receiptSigner(Buffer.alloc(32, 5));
  const polls = Array.from({ length: count }, (_, i) => drawnPoll(`${seed} ${i}`));
  const [statements, build] = timed(polls, statementText);
  const day = sealedDay(DAY, statements);
  const [signed, sign] = timed(statements, (statement) => signer.sign(statement));
  const texts = signed.map((jws, i) => receiptText(polls[i]!, jws, day.proofOf(statements[i]!)));
  const known: Known = { keys: signer.keys, days: [day.published] };

  const failed: string[] = [];
  const began = performance.now();
  for (const [i, text] of texts.entries()) {
    const { parts, isGood } = await verifyReceipt(text, known);
    const wrong = parts.find(({ name, state }) => state !== 'holds' && name !== 'result');
    if (!isGood || wrong) failed.push(`${seed} ${i}: ${wrong?.name} ${wrong?.says}`);
  }
  const verify = ((performance.now() - began) * 1_000) / count;
  const sizes = texts.map(({ length }) => length).sort((a, b) => a - b);
  return {
    receipts: count,
    failed,
    reasons: counted(polls.map(({ response }) => response.termination_reason ?? 'deadline')),
    bytes: { median: sizes[count >> 1]!, max: sizes.at(-1)! },
    us: { build, sign, verify },
    forged: forgeries,
    ...(await refuseForgeries({ polls, statements, texts, day, signer, known, draw, forgeries })),
  };
}

interface Forging {
  polls: readonly Receipted[];
  statements: readonly string[];
  texts: readonly string[];
  day: DayOfReceipts;
  signer: ReceiptSigner;
  known: Known;
  draw: Chance;
  forgeries: number;
}

/** In turn: a receipt with a changed character, and a false statement with a valid signature. */
async function refuseForgeries({ forgeries, ...forging }: Forging) {
  const accepted: string[] = [];
  const refusedBy: PartName[] = [];
  for (let i = 0; i < forgeries; i++) {
    const { text, due } = i % 2 === 0 ? otherByte(forging) : signedFalsehood(forging, i >> 1);
    const { parts, isGood } = await verifyReceipt(text, forging.known);
    const fails = parts.filter(({ state }) => state === 'fails').map(({ name }) => name);
    if (isGood || fails.length === 0 || (due !== null && !fails.includes(due.part))) accepted.push(due?.says ?? text);
    if (due) refusedBy.push(due.part);
    else refusedBy.push(...fails.slice(0, 1));
  }
  return { accepted, refusedBy: counted(refusedBy) };
}

const otherByte = ({ texts, draw }: Omit<Forging, 'forgeries'>) => ({
  text: withOtherByte(draw.pick(texts), draw),
  due: null,
});

function signedFalsehood({ polls, statements, day, signer, draw }: Omit<Forging, 'forgeries'>, turn: number) {
  const due = FALSE_STATEMENTS[turn % FALSE_STATEMENTS.length]!;
  for (;;) {
    const at = draw.whole(0, polls.length - 1);
    const altered = due.alter(JSON.parse(statements[at]!) as Statement, draw);
    // Without the price, so that it does not help to detect the forgery; except if the price is what is false.
    if (altered !== null) {
      const poll = due.part === 'price' ? polls[at]! : null;
      return { text: receiptText(poll, signer.sign(canonicalJson(altered)), day.proofOf(statements[at]!)), due };
    }
  }
}

const receiptText = (poll: Receipted | null, jws: object, proof: object): string =>
  JSON.stringify({ ...jws, proof, ...(poll && { price: receiptPrice(poll) }) });

function timed<T, R>(items: readonly T[], work: (item: T) => R): [R[], number] {
  const began = performance.now();
  const done = items.map(work);
  return [done, ((performance.now() - began) * 1_000) / items.length];
}

function counted<T>(items: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
