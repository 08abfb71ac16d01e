export { fromBase64url, toBase64url } from './base64url.ts';
export { canonicalJson } from './canonical-json.ts';
export { headerOf, type PublicKey, thumbprinted } from './keys.ts';
export { type CheckedPart, PARTS, type PartName } from './part.ts';
export type { PublishedResult } from './parts/result.ts';
export {
  type Proof,
  RECEIPT_VERSION,
  type ReceiptPrice,
  RULE_VERSION,
  type SealedDay,
  type SignedReceipt,
  type Statement,
} from './receipt.ts';
export { type Known, type Verified, verifyReceipt } from './verify-receipt.ts';
