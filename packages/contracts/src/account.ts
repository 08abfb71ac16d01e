import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { DateTime, literals, nullable, Usd, Uuid } from './vocabulary.ts';

export const Balance = Type.Object(
  {
    balance_cents: Type.Integer(),
    balance: Type.String({ description: 'The same amount as text, such as `$12.34`.' }),
    usage_cents: Type.Integer({ minimum: 0 }),
    held_back_cents: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Part of the balance that polls cannot use until a card payment has settled. Absent if there is none.',
      }),
    ),
  },
  { $id: 'Balance' },
);
export type Balance = Static<typeof Balance>;

export const CurrentUser = Type.Object(
  {
    userId: Uuid,
    email: Type.String({
      format: 'email',
      description:
        'An account without e-mail address has one in the reserved domain `invalid`, which cannot receive mail: `<address>@wallet.invalid` for a wallet.',
    }),
  },
  { $id: 'CurrentUser' },
);
export type CurrentUser = Static<typeof CurrentUser>;

/** When what a key has spent is counted from zero again. */
export const LIMIT_RESETS = ['never', 'daily', 'monthly'] as const;
export type LimitReset = (typeof LIMIT_RESETS)[number];

const Limit = Type.Number({ minimum: 0, maximum: LIMITS.key_limit_usd });
const Reset = literals(LIMIT_RESETS, {
  description:
    'When spending is counted from zero again. `daily`: at midnight UTC; `monthly`: at midnight UTC of the first day of a month.',
});

/** What a key may do, as its owner sees it. */
const KeyTerms = {
  label: Type.String(),
  expires_at: nullable(DateTime),
  read_only: Type.Boolean({ description: 'Whether the key can only read, and neither run polls nor change anything.' }),
  limit_usd: nullable(
    Type.Number({
      minimum: 0,
      description: 'The maximum that polls of the key may be charged per period; null if there is no limit.',
    }),
  ),
  limit_reset: Reset,
  spent_usd: nullable(
    Type.Number({ minimum: 0, description: 'Charged in the current period; null if there is no limit.' }),
  ),
  held_usd: nullable(
    Type.Number({
      minimum: 0,
      description: 'Held for running polls; it counts towards the limit. Null if there is no limit.',
    }),
  ),
  resets_at: nullable(DateTime),
};

export const ApiKey = Type.Object(
  {
    id: Uuid,
    key_prefix: Type.String({ description: 'The first 10 characters of the key.' }),
    ...KeyTerms,
    spent_today_usd: Usd,
    spent_month_usd: Usd,
    last_used_at: nullable(DateTime),
    revoked_at: nullable(DateTime),
    created_at: DateTime,
  },
  { $id: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

export const KeyRequest = Type.Object(
  {
    label: Type.Optional(Type.String({ maxLength: LIMITS.key_label })),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the key expires. Without it, the key never expires.' }),
    ),
    read_only: Type.Optional(Type.Boolean({ default: false })),
    limit_usd: Type.Optional({ ...Limit, description: 'The maximum that polls of the key may be charged per period.' }),
    limit_reset: Type.Optional({ ...Reset, default: 'never' }),
  },
  // A limit by another name must not be a key without one.
  { $id: 'KeyRequest', additionalProperties: false },
);
export type KeyRequest = Static<typeof KeyRequest>;

/** What is left out stays as it is. */
export const KeyChange = Type.Object(
  {
    label: Type.Optional(Type.String({ maxLength: LIMITS.key_label })),
    expires_at: Type.Optional(nullable(DateTime)),
    read_only: Type.Optional(Type.Boolean()),
    limit_usd: Type.Optional(nullable(Limit)),
    limit_reset: Type.Optional(Reset),
  },
  { $id: 'KeyChange', additionalProperties: false, minProperties: 1 },
);
export type KeyChange = Static<typeof KeyChange>;

/** Shows a whole key, which no later answer does. */
export const NewKey = Type.Object(
  {
    id: Uuid,
    key: Type.String(),
    key_prefix: Type.String(),
    ...KeyTerms,
    created_at: DateTime,
    warning: Type.String(),
  },
  { $id: 'NewKey' },
);
export type NewKey = Static<typeof NewKey>;

/** The code of a login of the command line, and the text whose SHA-256 was its challenge. */
export const GrantRedemption = Type.Object(
  {
    code: Type.String({ minLength: 1, maxLength: 128 }),
    verifier: Type.String({ minLength: 43, maxLength: 128 }),
  },
  { $id: 'GrantRedemption' },
);
export type GrantRedemption = Static<typeof GrantRedemption>;

export const KeyParams = Type.Object({ keyId: Uuid });
export type KeyParams = Static<typeof KeyParams>;

export const KeyRevocation = Type.Object({ revoked: Type.Boolean() }, { $id: 'KeyRevocation' });
export type KeyRevocation = Static<typeof KeyRevocation>;

export const KeysRevocation = Type.Object(
  {
    revoked_count: Type.Integer({ minimum: 0, description: 'How many active keys were revoked.' }),
    logins_ended: Type.Integer({ minimum: 0, description: 'How many browsers were signed out.' }),
  },
  { $id: 'KeysRevocation' },
);
export type KeysRevocation = Static<typeof KeysRevocation>;

export const GiveUpBalance = Type.Optional(
  Type.Boolean({
    description:
      'Gives up the remaining balance, which is not paid out. Without it, an account with a balance is not deleted.',
  }),
);

export const AccountDeletionQuery = Type.Object(
  {
    confirm: Type.String({
      description: 'The `userId` from GET /api/auth/me, so that no account is deleted by mistake.',
    }),
    give_up_balance: GiveUpBalance,
  },
  { additionalProperties: false },
);
export type AccountDeletionQuery = Static<typeof AccountDeletionQuery>;

export const AccountDeletion = Type.Object({ deleted: Type.Boolean(), given_up_usd: Usd }, { $id: 'AccountDeletion' });
export type AccountDeletion = Static<typeof AccountDeletion>;
