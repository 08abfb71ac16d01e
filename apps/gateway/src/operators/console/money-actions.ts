import {
  admitPayer,
  balanceOf,
  bookTransfer,
  closeMisfit,
  creditAccount,
  findCheckoutToRefund,
  findCreditedDeposit,
  inTransaction,
  isBooked,
  isLostDeposit,
  type Misfit,
  openMisfits,
  refundableU,
  reverseCredit,
  type Storage,
  transferOfMisfit,
} from '@eloquentpoll/storage';
import { syncPayment } from '../../payments/card/sync-payment.ts';
import { centsOf, unitsOf } from '../../payments/usdc/amount.ts';
import {
  centsField,
  microUsdOfText,
  OF_ACCOUNT,
  OF_CHECKOUT,
  OF_DEPOSIT,
  OF_ROW,
  type OperatorAction,
  otherAccount,
  usdField,
} from './operator-action.ts';

// Money is corrected by additional ledger entries. Each has its action's id, so a repeated action changes nothing.

/** The processor refunds the payment; the ledger then follows what the processor reports. */
export const refund: OperatorAction = {
  label: 'Refund a card payment',
  subject: OF_CHECKOUT,
  fields: [centsField('amount', 'amount')],
  async perform(context, { actionId, isRepeat, subject, values }) {
    const { processor, storage, log } = context;
    if (!processor) return { outcome: 'not_configured' };
    const amountCents = centsOf(unitsOf(Number(values.amount)));
    const paid = await findCheckoutToRefund(storage, subject);
    if (!paid) return { outcome: 'gone' };
    // A repeated refund is not checked against what is left: the processor knows this id and refunds only once.
    if (amountCents === 0 || (amountCents > paid.leftCents && !isRepeat)) return { outcome: 'too_much' };
    await processor.refund({ id: actionId, paymentIntent: paid.paymentIntent, amountCents });
    // The money is refunded. If the ledger cannot follow now, the event or the nightly comparison makes it follow.
    await syncPayment(context, processor, { id: subject, processorId: paid.processorId }).catch((error: unknown) =>
      log.warn({ err: error, checkout_id: subject }, 'checkout.sync_failed'),
    );
    return { outcome: 'refunded', facts: { amount_cents: String(amountCents), account_id: paid.accountId } };
  },
};

/** The operator has already sent the money on the chain; this deducts it from the account. */
export const refundDeposit: OperatorAction = {
  label: 'Book a refund of USDC',
  subject: OF_DEPOSIT,
  fields: [usdField('amount', 'amount'), { name: 'tx', label: 'transaction', pattern: /^0x[0-9a-f]{64}$/ }],
  async perform({ storage }, { isRepeat, subject, values }) {
    const amountU = microUsdOfText(values.amount!);
    return inTransaction(storage, async (tx) => {
      const paid = await findCreditedDeposit(tx, subject);
      if (!paid) return { outcome: 'gone' };
      const { accountId } = paid;
      const facts = { amount_u: String(amountU), account_id: accountId };
      const [name, idem] = [`refund:${subject}`, `refund:${subject}:${values.tx}`];
      if (await isBooked(tx, idem)) return { outcome: isRepeat ? 'refunded' : 'gone', facts };
      if (amountU === 0n || amountU > (await refundableU(tx, name, paid.amountU))) return { outcome: 'too_much' };
      await reverseCredit(tx, { accountId, amountU, source: 'chain', idem });
      return { outcome: 'refunded', facts };
    });
  },
};

/** Reverses a wrong booking, books the right amount to the same account or another, or both. */
export const correct: OperatorAction = {
  label: 'Correct the ledger',
  subject: OF_ACCOUNT,
  fields: [usdField('wrong', 'takes'), usdField('right', 'gives'), otherAccount('gives to another account')],
  async perform({ storage }, { actionId, subject, values }) {
    const [wrongU, rightU] = [microUsdOfText(values.wrong!), microUsdOfText(values.right!)];
    const to = values.account || subject;
    const areKnown = (await balanceOf(storage, subject)) !== null && (await balanceOf(storage, to)) !== null;
    if (!areKnown) return { outcome: 'gone' };
    if (wrongU === 0n && rightU === 0n) return { outcome: 'no_amount' };
    await inTransaction(storage, async (tx) => {
      const [name, source] = [`correction:${actionId}`, 'operator'] as const;
      if (wrongU > 0n) await reverseCredit(tx, { accountId: subject, amountU: wrongU, source, idem: `${name}:takes` });
      if (rightU > 0n) await creditAccount(tx, { accountId: to, amountU: rightU, source, idem: `${name}:gives` });
    });
    return { outcome: 'corrected', facts: { takes_u: String(wrongU), gives_u: String(rightU), to } };
  },
};

export const match: OperatorAction = {
  label: 'Credit',
  subject: OF_ROW,
  fields: [otherAccount("account, if not the wallet's")],
  async perform({ storage }, { subject, values }) {
    const [misfit] = await openMisfits(storage, 1, BigInt(subject));
    if (!misfit) return { outcome: 'gone' };
    if (misfit.source === 'card' || isLostDeposit(misfit)) return { outcome: 'not_by_hand' };
    const transfer = transferOfMisfit(misfit);
    const accountId = values.account || (await accountOfWallet(storage, transfer.payer));
    if ((await balanceOf(storage, accountId)) === null) return { outcome: 'gone' };
    const isBooked = await bookTransfer(storage, transfer, accountId);
    return isBooked
      ? { outcome: 'matched', facts: { ...factsOf(misfit), account_id: accountId } }
      : { outcome: 'gone' };
  },
};

export const ignore: OperatorAction = {
  label: 'Ignore',
  subject: OF_ROW,
  fields: [],
  async perform({ storage }, { subject }) {
    const [misfit] = await openMisfits(storage, 1, BigInt(subject));
    if (!misfit || !(await closeMisfit(storage, misfit, 'ignored'))) return { outcome: 'gone' };
    return { outcome: 'ignored', facts: factsOf(misfit) };
  },
};

const accountOfWallet = async (storage: Storage, address: Buffer): Promise<string> =>
  (await inTransaction(storage, (tx) => admitPayer(tx, address))).accountId;

const factsOf = ({ source, reference, amountU }: Misfit) => ({ source, reference, amount_u: String(amountU) });
