import { type Static, Type } from '@sinclair/typebox';
import { UsageError } from '../terminal/command.ts';

// The operations to try, read from the service's own OpenAPI document, so that new operations are fuzzed automatically.

export const Schema = Type.Readonly(Type.Record(Type.String(), Type.Unknown()));
export type Schema = Readonly<Static<typeof Schema>>;

const Parameter = Type.Object({
  in: Type.Union([Type.Literal('path'), Type.Literal('query'), Type.Literal('header')]),
  name: Type.String(),
  required: Type.Optional(Type.Boolean()),
  schema: Schema,
  examples: Type.Optional(Type.Record(Type.String(), Type.Object({ value: Type.Unknown() }))),
});
export type Parameter = Readonly<Static<typeof Parameter>>;

export interface FuzzedOperation {
  /** For example `POST /api/poll`. */
  readonly name: string;
  readonly id: string;
  readonly method: string;
  /** As in the document, with `{id}` for parameters. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Schemas of the body by media type; empty if the document has none. */
  readonly bodies: Readonly<Record<string, Schema>>;
  /** The credentials that the operation accepts. */
  readonly ways: readonly ('none' | 'key' | 'cookie')[];
  readonly answers: Readonly<Record<string, DeclaredAnswer>>;
}

const DeclaredAnswer = Type.Object({
  $ref: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  content: Type.Optional(Type.Record(Type.String(), Type.Object({ schema: Type.Optional(Schema) }))),
});
export type DeclaredAnswer = Readonly<Static<typeof DeclaredAnswer>>;

/** The OpenAPI object. */
const OperationObject = Type.Object({
  operationId: Type.String(),
  parameters: Type.Optional(Type.Array(Type.Union([Parameter, Type.Object({ $ref: Type.String() })]))),
  requestBody: Type.Optional(Type.Object({ content: Type.Record(Type.String(), Type.Object({ schema: Schema })) })),
  security: Type.Optional(Type.Array(Schema)),
  responses: Type.Record(Type.String(), DeclaredAnswer),
});
type OperationObject = Static<typeof OperationObject>;

export const Description = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), OperationObject)),
  components: Type.Object({
    schemas: Type.Record(Type.String(), Schema),
    responses: Type.Optional(Type.Record(Type.String(), DeclaredAnswer)),
    parameters: Type.Optional(Type.Record(Type.String(), Parameter)),
  }),
});
export type Description = Readonly<Static<typeof Description>>;

export function operationsOf({ paths, components }: Description): FuzzedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path}`,
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      parameters: (described.parameters ?? []).map((parameter) =>
        '$ref' in parameter ? components.parameters![nameIn(parameter.$ref)]! : parameter,
      ),
      bodies: Object.fromEntries(
        Object.entries(described.requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema]),
      ),
      ways: waysOf(described),
      answers: Object.fromEntries(
        Object.entries(described.responses).map(([status, answer]) => [
          status,
          answer.$ref === undefined ? answer : { ...components.responses![nameIn(answer.$ref)], ...answer },
        ]),
      ),
    })),
  );
}

/** Those whose names hold `only`; a run of none would find nothing wrong. */
export function operationsNamed(description: Description, only?: string): FuzzedOperation[] {
  const named = operationsOf(description).filter(({ name }) => only === undefined || name.includes(only));
  if (named.length === 0) throw new UsageError(`no operation's name holds "${only}"`);
  return named;
}

const nameIn = ($ref: string): string => $ref.split('/').at(-1) ?? '';

function waysOf({ security = [] }: OperationObject): FuzzedOperation['ways'] {
  if (security.length === 0) return ['none'];
  return security.map((way) => ('apiKey' in way ? 'key' : 'session' in way ? 'cookie' : 'none'));
}

/** Resolves a `$ref` of the document. */
export function resolved(schema: Schema, { components }: Pick<Description, 'components'>): Schema {
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/components/schemas/', '') : null;
  if (name === null) return schema;
  const found = components.schemas[name];
  if (!found) throw new Error(`the description has no shape ${name}`);
  return resolved(found, { components });
}
