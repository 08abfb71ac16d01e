import { type Static, Type } from '@sinclair/typebox';
import { Count, DateTime, literals, nullable } from './vocabulary.ts';

export const Health = Type.Object(
  {
    status: literals(['ok']),
    db: literals(['ok', 'error']),
    version: Type.String(),
    git_commit: nullable(Type.String()),
    timestamp: DateTime,
  },
  { $id: 'Health' },
);
export type Health = Static<typeof Health>;

export const SURFACE_CATEGORIES = ['standard', 'emerging', 'speculative'] as const;
export const USER_TYPES = ['human', 'coding_agent', 'browser_agent'] as const;

export const Surface = Type.Object(
  {
    pattern_id: Type.String(),
    category: literals(SURFACE_CATEGORIES),
    user_types: Type.Array(literals(USER_TYPES)),
    description: Type.String(),
    user_story: Type.String(),
    artifacts: Type.Array(Type.String()),
    detection_rule: Type.String(),
    standard_refs: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'Surface' },
);
export type Surface = Static<typeof Surface>;

export const ModelListing = Type.Object(
  {
    fetched_at: DateTime,
    cache_expires_at: DateTime,
    count: Count,
    model_count: nullable(Count),
    variants: Type.Array(Type.Object({}, { additionalProperties: true })),
  },
  { $id: 'ModelListing' },
);
export type ModelListing = Static<typeof ModelListing>;

/** RFC 9728: what a client needs to know to get an access token that counts here. */
export const ProtectedResource = Type.Object(
  {
    resource: Type.String({ format: 'uri' }),
    authorization_servers: Type.Optional(
      Type.Array(Type.String({ format: 'uri' }), { description: 'Left out where there is no identity provider.' }),
    ),
    scopes_supported: Type.Array(Type.String()),
    bearer_methods_supported: Type.Array(literals(['header'])),
    resource_name: Type.String(),
    resource_documentation: Type.String({ format: 'uri' }),
  },
  { $id: 'ProtectedResource' },
);
export type ProtectedResource = Static<typeof ProtectedResource>;
