import { type Static, Type } from '@sinclair/typebox';
import { ErrorBody, Problem } from './error-body.ts';
import { LIMITS } from './limits.ts';
import { Uuid } from './vocabulary.ts';

export const CheckoutRequest = Type.Object(
  {
    amount_cents: Type.Integer({
      minimum: LIMITS.checkout_cents.min,
      maximum: LIMITS.checkout_cents.max,
      description: 'The amount of the card payment in US cents. All of it is credited.',
    }),
  },
  { $id: 'CheckoutRequest' },
);
export type CheckoutRequest = Static<typeof CheckoutRequest>;

export const Checkout = Type.Object(
  { url: Type.String({ format: 'uri', description: "The payment processor's page for this payment." }) },
  { $id: 'Checkout' },
);
export type Checkout = Static<typeof Checkout>;

export const DepositRequest = Type.Object(
  {
    amount_usd: Type.Number({
      minimum: LIMITS.deposit_usd.min,
      maximum: LIMITS.deposit_usd.max,
      multipleOf: 0.01,
      description: 'US dollars with at most two decimals. The payment must be for exactly this amount.',
    }),
  },
  { $id: 'DepositRequest' },
);
export type DepositRequest = Static<typeof DepositRequest>;

export const Deposit = Type.Object(
  {
    deposit_id: Uuid,
    amount_usd: Type.Number(),
    amount_cents: Type.Integer(),
    tx_hash: Type.String({ pattern: '^0x[0-9a-f]{64}$' }),
    payer: Type.String({
      pattern: '^0x[0-9a-fA-F]{40}$',
      description: 'The wallet that paid; its account was credited.',
    }),
    user_id: Uuid,
    is_new_user: Type.Boolean(),
    api_key: Type.Optional(
      Type.String({
        description:
          'Only for a new user, and shown only once. A payment that was submitted before, or is already visible on the chain, does not prove ownership: its response contains a key only if the Deposit-Secret of the first submission is repeated.',
      }),
    ),
    wallet_login: Type.Optional(
      Type.String({
        format: 'uri',
        description:
          'For a new user without api_key: a challenge to sign with the paying wallet, for /api/wallet/rotate-key (which returns a key) or /api/wallet/verify.',
      }),
    ),
  },
  { $id: 'Deposit' },
);
export type Deposit = Static<typeof Deposit>;

/** One way to pay, as x402 version 1 writes it. */
export const PaymentTerms = Type.Object(
  {
    scheme: Type.Literal('exact'),
    network: Type.String(),
    maxAmountRequired: Type.String({
      description: 'In the smallest unit of the asset, which is a millionth of a dollar.',
    }),
    asset: Type.String(),
    payTo: Type.String(),
    resource: Type.String({ format: 'uri' }),
    description: Type.String(),
    mimeType: Type.String(),
    maxTimeoutSeconds: Type.Integer(),
    extra: Type.Object({ name: Type.String(), version: Type.String() }),
  },
  { $id: 'PaymentTerms' },
);
export type PaymentTerms = Static<typeof PaymentTerms>;

const terms = Type.Object({ x402Version: Type.Literal(1), accepts: Type.Array(Type.Ref(PaymentTerms)) });

/** The 402 of a deposit: an error like any other that also says how to pay, in both forms of an error. */
export const PaymentRequired = Type.Intersect([Type.Ref(ErrorBody), terms], { $id: 'PaymentRequired' });
export const PaymentRequiredProblem = Type.Intersect([Type.Ref(Problem), terms], { $id: 'PaymentRequiredProblem' });
