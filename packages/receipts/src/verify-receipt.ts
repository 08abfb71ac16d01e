import { fromBase64url } from './base64url.ts';
import { canonicalJson } from './canonical-json.ts';
import { headerOf, isSigned, type PublicKey, thumbprintOf } from './keys.ts';
import { type CheckedPart, fails, holds, PARTS, type PartName, type PartState, unchecked } from './part.ts';
import { checkDecision } from './parts/decision.ts';
import { checkInclusion } from './parts/inclusion.ts';
import { checkOdds } from './parts/odds.ts';
import { checkPanel } from './parts/panel.ts';
import { checkPrice } from './parts/price.ts';
import { replayed } from './parts/replayed.ts';
import { checkResult, type PublishedResult } from './parts/result.ts';
import { checkTally } from './parts/tally.ts';
import {
  isReceipt,
  isStatement,
  OLDEST_RECOMPUTED_RULES,
  RECEIPT_VERSION,
  type ReceiptPrice,
  RULE_VERSION,
  type SealedDay,
  type SignedReceipt,
  type Statement,
} from './receipt.ts';

/** What the verifier has besides the receipt. */
export interface Known {
  /** The service's public keys. */
  readonly keys: readonly PublicKey[];
  /** Sealed days as published. */
  readonly days?: readonly SealedDay[] | undefined;
  readonly result?: PublishedResult | null | undefined;
}

export interface Verified {
  /** Null if the receipt cannot be read. */
  readonly statement: Statement | null;
  /** All parts, in order. */
  readonly parts: readonly CheckedPart[];
  /** True if it is signed by a known key and nothing that could be checked fails. */
  readonly isGood: boolean;
}

/** Recomputes everything that a receipt states, from its votes and the rules of `voting`. Never throws. */
export async function verifyReceipt(json: string, known: Known): Promise<Verified> {
  const findings = new Map<PartName, PartState>();
  const receipt = readJson(json);
  let statement: Statement | null = null;
  if (isReceipt(receipt)) {
    statement = await checkAll(receipt, known, findings);
  } else {
    findings.set('form', fails('This is not a receipt: members are missing, of another kind, or too many.'));
  }
  const parts = PARTS.map((name) => ({ name, ...(findings.get(name) ?? unchecked('What comes before it fails.')) }));
  const isGood = parts.every(({ state }) => state !== 'fails') && findings.get('signature')?.state === 'holds';
  return { statement, parts, isGood };
}

async function checkAll(
  receipt: SignedReceipt,
  known: Known,
  findings: Map<PartName, PartState>,
): Promise<Statement | null> {
  const payload = fromBase64url(receipt.payload);
  const kid = kidOf(receipt.protected);
  if (payload === null || kid === null) {
    findings.set('form', fails('The payload or the header of the signature cannot be read.'));
    return null;
  }
  findings.set('form', holds('It has the members of a receipt and no other.'));
  const key = known.keys.find((one) => one.kid === kid);
  findings.set('key', await checkKey(key, kid));
  if (key) findings.set('signature', await checkSignature(receipt, key));
  findings.set('inclusion', await checkInclusion(payload, receipt.proof, known.days));

  const text = new TextDecoder().decode(payload);
  const statement = readJson(text);
  const isKnown = isStatement(statement) && canonicalJson(statement) === text && statement.version === RECEIPT_VERSION;
  if (!isKnown) {
    findings.set('canonical', fails(`The payload is not a statement of version ${RECEIPT_VERSION} in canonical JSON.`));
    return null;
  }
  findings.set('canonical', holds('The payload is a statement in canonical JSON.'));
  const panel = checkPanel(statement);
  findings.set('panel', panel);
  findings.set('result', await checkResult(statement, known.result ?? null));
  const price = await checkPrice(statement, receipt.price ?? null);
  findings.set('price', price);
  if (panel.state === 'holds')
    checkByRules(statement, price.state === 'holds' ? (receipt.price ?? null) : null, findings);
  return statement;
}

function checkByRules(statement: Statement, price: ReceiptPrice | null, findings: Map<PartName, PartState>): void {
  const { version } = statement.rule;
  if (version < OLDEST_RECOMPUTED_RULES || version > RULE_VERSION) {
    const other = unchecked(
      `It was decided by rules of version ${version}; these are versions ${OLDEST_RECOMPUTED_RULES} to ${RULE_VERSION}.`,
    );
    for (const name of ['tally', 'odds', 'decision'] as const) findings.set(name, other);
    return;
  }
  const poll = replayed(statement, price);
  findings.set('tally', checkTally(statement, poll));
  findings.set('odds', checkOdds(statement, poll));
  findings.set('decision', checkDecision(statement, poll, price));
}

async function checkKey(key: PublicKey | undefined, kid: string): Promise<PartState> {
  if (key === undefined) return fails(`None of the known keys is ${kid}.`);
  return (await thumbprintOf(key.x)) === kid
    ? holds(`It names the key ${kid}.`)
    : fails('The key does not have the thumbprint that it is known by.');
}

async function checkSignature(receipt: SignedReceipt, key: PublicKey): Promise<PartState> {
  const isRight = await isSigned(key, `${receipt.protected}.${receipt.payload}`, receipt.signature);
  if (isRight === null) return unchecked('This browser cannot check Ed25519 signatures.');
  return isRight
    ? holds('Ed25519: the statement is as it was signed.')
    : fails('The statement is not as it was signed.');
}

/** The id of the key in the header. Null if the header is not exactly ours. */
function kidOf(header: string): string | null {
  const bytes = fromBase64url(header);
  const text = bytes && new TextDecoder().decode(bytes);
  const read = text === null ? null : readJson(text);
  const kid = typeof read === 'object' && read !== null && 'kid' in read ? read.kid : null;
  return typeof kid === 'string' && headerOf(kid) === text ? kid : null;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
