import type { Generated } from 'kysely';

export interface AccountsTable {
  id: Generated<string>;
  kind: Generated<'user' | 'free_pool' | 'audit_pool' | 'revenue' | 'funding'>;
  email: string | null;
  created_at: Generated<Date>;
  frozen_at: Date | null;
  deleted_at: Date | null;
  emptied_at: Date | null;
  moving_at: Date | null;
  moved_to: string | null;
  keep_until: Date | null;
}

export interface IdentitiesTable {
  id: Generated<string>;
  account_id: string;
  kind: 'oidc' | 'wallet';
  issuer: string | null;
  subject: string | null;
  address: Buffer | null;
  has_own_key: Generated<boolean>;
  created_at: Generated<Date>;
}

export interface ApiKeysTable {
  id: Generated<string>;
  account_id: string;
  hash: Buffer;
  pepper_id: Generated<number>;
  prefix: string;
  label: Generated<string>;
  read_only: Generated<boolean>;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Generated<Date>;
}

export interface LoginsTable {
  id: Generated<string>;
  account_id: string;
  identity_id: string | null;
  created_at: Generated<Date>;
  last_seen_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
}

export interface SavedPanelsTable {
  account_id: string;
  name: string;
  models: string[];
  updated_at: Generated<Date>;
}

export interface NoncesTable {
  nonce: string;
  address: Buffer;
  asker: Generated<Buffer>;
  purpose: string | null;
  message: string;
  created_at: Generated<Date>;
  expires_at: Date;
  used_at: Date | null;
}
