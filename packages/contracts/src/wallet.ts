import { type Static, Type } from '@sinclair/typebox';
import { GiveUpBalance } from './account.ts';
import { LIMITS } from './limits.ts';
import { Count, literals, Uuid } from './vocabulary.ts';

// Signing in with a wallet: a challenge to sign, and four things that the signed challenge can do.

export const WALLET_PURPOSES = ['login', 'revoke', 'rotate', 'delete'] as const;
export type WalletPurpose = (typeof WALLET_PURPOSES)[number];

export const WalletChallengeQuery = Type.Object({
  address: Type.String({
    description: 'A 0x-prefixed Ethereum address. If it is in mixed case, the EIP-55 checksum must be correct.',
  }),
  purpose: Type.Optional(
    literals(WALLET_PURPOSES, {
      description: 'The purpose of the signature. The message names it, and the signature is valid for nothing else.',
    }),
  ),
});
export type WalletChallengeQuery = Static<typeof WalletChallengeQuery>;

export const WalletChallenge = Type.Object(
  { message: Type.String({ description: 'An EIP-4361 message. Sign it unchanged.' }), nonce: Type.String() },
  { $id: 'WalletChallenge' },
);
export type WalletChallenge = Static<typeof WalletChallenge>;

const proof = {
  message: Type.String({ maxLength: LIMITS.wallet_message, description: 'The message of the challenge, unchanged.' }),
  signature: Type.String({
    maxLength: LIMITS.wallet_signature,
    description:
      'The EIP-191 signature of the message, 0x-prefixed. For a contract wallet, any signature that its contract accepts (EIP-1271).',
  }),
};

export const WalletProof = Type.Object(proof, { $id: 'WalletProof' });
export type WalletProof = Static<typeof WalletProof>;

export const WalletKeyProof = Type.Object({ ...proof, key_id: Uuid }, { $id: 'WalletKeyProof' });
export type WalletKeyProof = Static<typeof WalletKeyProof>;

const apiKey = Type.String({ description: 'The complete key. It is shown only in this response.' });

export const WalletDeletion = Type.Object({ ...proof, give_up_balance: GiveUpBalance }, { $id: 'WalletDeletion' });
export type WalletDeletion = Static<typeof WalletDeletion>;

export const WalletLogin = Type.Object(
  {
    address: Type.String(),
    user_id: Uuid,
    is_new_user: Type.Boolean(),
    api_key: Type.Optional(apiKey),
  },
  { $id: 'WalletLogin' },
);
export type WalletLogin = Static<typeof WalletLogin>;

export const WalletRevocation = Type.Object({ revoked: Type.Boolean(), key_id: Uuid }, { $id: 'WalletRevocation' });
export type WalletRevocation = Static<typeof WalletRevocation>;

export const WalletRotation = Type.Object(
  {
    revoked_count: Count,
    api_key: apiKey,
    key_id: Uuid,
    key_prefix: Type.String(),
    warning: Type.String(),
  },
  { $id: 'WalletRotation' },
);
export type WalletRotation = Static<typeof WalletRotation>;
