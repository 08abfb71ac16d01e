import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { DateTime, nullable, Uuid } from './vocabulary.ts';

export const Balance = Type.Object(
  {
    balance_cents: Type.Integer(),
    balance: Type.String({ description: 'The same amount for a reader, such as `$12.34`.' }),
    usage_cents: Type.Integer({ minimum: 0 }),
    held_back_cents: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Part of the balance that polls cannot use until a card payment has settled; absent where there is none.',
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
        'Who has none gets a name in the reserved domain `invalid`, which no mail reaches: `<address>@wallet.invalid` for a wallet.',
    }),
  },
  { $id: 'CurrentUser' },
);
export type CurrentUser = Static<typeof CurrentUser>;

export const ApiKey = Type.Object(
  {
    id: Uuid,
    key_prefix: Type.String({ description: 'The first 10 characters of the key.' }),
    label: Type.String(),
    last_used_at: nullable(DateTime),
    expires_at: nullable(DateTime),
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
      Type.String({ format: 'date-time', description: 'When the key stops to authenticate; never without it.' }),
    ),
  },
  { $id: 'KeyRequest' },
);
export type KeyRequest = Static<typeof KeyRequest>;

/** Shows a whole key, which no later answer does. */
export const NewKey = Type.Object(
  {
    id: Uuid,
    key: Type.String(),
    key_prefix: Type.String(),
    label: Type.String(),
    expires_at: nullable(DateTime),
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
    revoked_count: Type.Integer({ minimum: 0, description: 'Keys that were active.' }),
    logins_ended: Type.Integer({ minimum: 0, description: 'Signed-in browsers that are signed in no more.' }),
  },
  { $id: 'KeysRevocation' },
);
export type KeysRevocation = Static<typeof KeysRevocation>;
