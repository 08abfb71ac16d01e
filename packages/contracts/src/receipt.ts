import { type Static, Type } from '@sinclair/typebox';
import { Count, literals, nullable } from './vocabulary.ts';

const Hash = Type.String({ pattern: '^[\\w-]{43}$', description: 'SHA-256 in base64url.' });
const Day = Type.String({ format: 'date', description: 'UTC.' });

const MicroUsd = Type.Integer({ minimum: 0 });

/** What a poll could cost and did; only its owner gets it, and the statement has its hash. */
const Price = Type.Object({
  nonce: Type.String(),
  max_cost_u: MicroUsd,
  reserves_u: Type.Array(MicroUsd, {
    description: 'The reserve of each seat (the maximum that its vote can be billed) in micro-USD.',
  }),
  votes: Type.Array(Type.Object({ billed_u: MicroUsd, fault_u: MicroUsd })),
});

export const ReceiptProof = Type.Object(
  {
    day: Day,
    receipts: Type.Integer({ minimum: 1, description: 'Number of receipts of that day.' }),
    index: Type.Integer({
      minimum: 0,
      description: 'Position of this receipt among those of the day, ordered by hash.',
    }),
    path: Type.Array(Hash, { description: 'The inclusion proof of RFC 9162, from the leaf up.' }),
    root: Hash,
    previous_seal: nullable(Hash),
    seal: Type.String({
      pattern: '^[\\w-]{43}$',
      description:
        'SHA-256 of the concatenation of `previous_seal`, the day as text, `receipts` as 8 bytes (big-endian) and `root`.',
    }),
  },
  { $id: 'ReceiptProof' },
);

/** A signed statement about a poll: a JWS in flattened JSON, and the proof that its day holds it. */
export const ResultReceipt = Type.Object(
  {
    payload: Type.String({
      description: 'The statement: canonical JSON (RFC 8785) in base64url. It contains no costs and no reasons.',
    }),
    protected: Type.String({ description: 'The JWS header with `alg`, `kid` and `typ`, in base64url.' }),
    signature: Type.String({ description: 'Ed25519 over `protected`, a dot and `payload`, in base64url.' }),
    proof: Type.Union([Type.Ref(ReceiptProof), Type.Null()], {
      description: 'Null until the UTC day of the poll is sealed.',
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
  day: Type.Optional(Type.String({ format: 'date', description: 'Only this day, such as 2026-11-20.' })),
  before: Type.Optional(Type.String({ format: 'date', description: 'Only days before this one, such as 2026-11-20.' })),
  result_id: Type.Optional(
    Type.String({
      pattern: '^EP-\\d{4}-\\d\\d-\\d\\d-[0-9a-z]{16}$',
      description:
        'For a service with several installations: selects the installation that has the receipt of this result.',
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
