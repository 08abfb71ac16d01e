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
      Type.Array(Type.String({ format: 'uri' }), { description: 'Missing if there is no identity provider.' }),
    ),
    scopes_supported: Type.Array(Type.String()),
    bearer_methods_supported: Type.Array(literals(['header'])),
    resource_name: Type.String(),
    resource_documentation: Type.String({ format: 'uri' }),
  },
  { $id: 'ProtectedResource' },
);
export type ProtectedResource = Static<typeof ProtectedResource>;

/** What to look for among the surfaces; all that is named must fit. */
export const SurfaceQuery = Type.Object(
  {
    category: Type.Optional(literals(SURFACE_CATEGORIES)),
    user_type: Type.Optional(literals(USER_TYPES)),
    query: Type.Optional(
      Type.String({ maxLength: 200, description: 'Text that the surface must contain; case is ignored.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
  },
  { $id: 'SurfaceQuery' },
);
export type SurfaceQuery = Static<typeof SurfaceQuery>;

export const SurfacePage = Type.Object(
  {
    surfaces: Type.Array(Type.Ref(Surface)),
    count: Type.Integer({ minimum: 0, description: 'Number of surfaces on this page.' }),
    total: Type.Integer({ minimum: 0, description: 'Number of surfaces that match the query.' }),
  },
  { $id: 'SurfacePage' },
);
export type SurfacePage = Static<typeof SurfacePage>;

export const SurfaceRequest = Type.Object({ pattern_id: Type.String({ minLength: 1 }) }, { $id: 'SurfaceRequest' });
export type SurfaceRequest = Static<typeof SurfaceRequest>;

export const SurfaceAnswer = Type.Object({ surface: Type.Ref(Surface) }, { $id: 'SurfaceAnswer' });
export type SurfaceAnswer = Static<typeof SurfaceAnswer>;

export const ExampleListing = Type.Object(
  { available: Type.Array(Type.String()), endpoints: Type.Array(Type.String()) },
  { $id: 'ExampleListing' },
);
export type ExampleListing = Static<typeof ExampleListing>;
