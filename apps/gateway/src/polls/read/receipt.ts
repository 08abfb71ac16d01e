import type { ResultReceipt } from '@eloquentpoll/contracts';
import { isPaidByPool, isResultId, type ReceiptSigner, receiptPrice, statementOfLeaf } from '@eloquentpoll/polls';
import { findReceiptProof, findReceiptSource, refuseMovedResult, type StoredProof } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

/** The receipt of a result, rebuilt from stored data; it includes the price for the account that paid. */
export async function receiptOf(
  { storage, receipts, log }: PollsContext,
  resultId: string,
  accountId: string | null,
): Promise<ResultReceipt> {
  const signer = requireSigner(receipts);
  const source = isResultId(resultId) ? await findReceiptSource(storage, resultId) : null;
  if (!source && isResultId(resultId)) await refuseMovedResult(storage, resultId);
  if (!source) throw new ApiError('result_not_found');
  if (source.leaf === null) throw new ApiError('receipt_not_found');
  const statement = statementOfLeaf(source, source.leaf);
  if (statement === null) {
    log.error({ result_id: resultId }, 'receipt.source_changed');
    throw new ApiError('receipt_not_found', {
      detail: 'What is stored of this poll is not what its receipt was made of.',
    });
  }
  const proof = await findReceiptProof(storage, source.leaf, source.day);
  const isOwner =
    accountId !== null && accountId === source.accountId && !isPaidByPool(source.spec.panel_name, source.entryPoint);
  return {
    ...signer.sign(statement),
    proof: proof && wireProof(proof),
    ...(isOwner && { price: receiptPrice(source) }),
  };
}

export function requireSigner(signer: ReceiptSigner | null): ReceiptSigner {
  if (signer === null) throw new ApiError('not_configured', { detail: 'This service signs no receipts.' });
  return signer;
}

export const base64url = (bytes: Buffer): string => bytes.toString('base64url');

const wireProof = ({ day, receipts, index, path, root, previousSeal, seal }: StoredProof): ResultReceipt['proof'] => ({
  day,
  receipts,
  index,
  path: path.map(base64url),
  root: base64url(root),
  previous_seal: previousSeal && base64url(previousSeal),
  seal: base64url(seal),
});
