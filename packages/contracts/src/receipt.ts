import { type Static, Type } from '@sinclair/typebox';
import { Count, literals, nullable } from './vocabulary.ts';

const Hash = Type.String({ pattern: '^[\\w-]{43}$', description: 'SHA-256 in base64url.' });
const Day = Type.String({ format: 'date', description: 'UTC.' });

const MicroUsd = Type.Integer({ minimum: 0 });

/** What a poll could cost and did; only its owner gets it, and the statement has its hash. */
const Price = Type.Object({
  nonce: Type.String(),
  max_cost_u: MicroUsd,
  reserves_u: Type.Array(MicroUsd, { description: 'By seat: the most that its vote could be billed, in micro-USD.' }),
  votes: Type.Array(Type.Object({ billed_u: MicroUsd, fault_u: MicroUsd })),
});

export const ReceiptProof = Type.Object(
  {
    day: Day,
    receipts: Type.Integer({ minimum: 1, description: 'Of that day.' }),
    index: Type.Integer({ minimum: 0, description: 'Place of this one among them, in the order of their hashes.' }),
    path: Type.Array(Hash, { description: 'The inclusion proof of RFC 9162, from the leaf up.' }),
    root: Hash,
    previous_seal: nullable(Hash),
    seal: Type.String({
      pattern: '^[\\w-]{43}$',
      description:
        'SHA-256 of `previous_seal`, the day as text, `receipts` as 8 bytes (big-endian) and `root`, one after the other.',
    }),
  },
  { $id: 'ReceiptProof' },
);

/** A signed statement about a poll: a JWS in flattened JSON, and the proof that its day holds it. */
export const ResultReceipt = Type.Object(
  {
    payload: Type.String({
      description: 'The statement: canonical JSON (RFC 8785) in base64url. It carries no cost data and no reasons.',
    }),
    protected: Type.String({ description: 'The header of the signature: `alg`, `kid` and `typ`, in base64url.' }),
    signature: Type.String({ description: 'Ed25519 over `protected`, a dot and `payload`, in base64url.' }),
    proof: Type.Union([Type.Ref(ReceiptProof), Type.Null()], {
      description: 'Null until the UTC day of the poll is over and sealed.',
    }),
    price: Type.Optional(Price),
  },
  { $id: 'Receipt' },
);
export type ResultReceipt = Static<typeof ResultReceipt>;

export const ReceiptDay = Type.Object({ day: Day, receipts: Count, root: Hash, seal: Hash }, { $id: 'ReceiptDay' });

export const ReceiptDays = Type.Object({ days: Type.Array(Type.Ref(ReceiptDay)) }, { $id: 'ReceiptDays' });
export type ReceiptDays = Static<typeof ReceiptDays>;

export const ReceiptDaysQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
  day: Type.Optional(Type.String({ format: 'date', description: 'This day alone, such as 2026-11-20.' })),
  before: Type.Optional(Type.String({ format: 'date', description: 'Only days before this one, such as 2026-11-20.' })),
  result_id: Type.Optional(
    Type.String({
      pattern: '^EP-\\d{4}-\\d\\d-\\d\\d-[0-9a-z]{16}$',
      description: 'The days that the receipt of this result is in, where the service is several installations.',
    }),
  ),
});
export type ReceiptDaysQuery = Static<typeof ReceiptDaysQuery>;

/** Public keys (RFC 7517) that receipts are signed with, and were. */
export const ReceiptKeys = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: literals(['OKP']),
        crv: literals(['Ed25519']),
        x: Type.String(),
        kid: Type.String({ description: 'The thumbprint of the key (RFC 7638).' }),
        use: literals(['sig']),
        alg: literals(['EdDSA']),
      }),
    ),
  },
  { $id: 'ReceiptKeys' },
);
export type ReceiptKeys = Static<typeof ReceiptKeys>;
