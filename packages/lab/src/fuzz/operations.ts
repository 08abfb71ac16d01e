// The operations to try, read from the description that the service itself serves: whatever is added there is fuzzed
// without anybody thinking of it.

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { value: unknown }>>;
}

export interface FuzzedOperation {
  /** `POST /api/poll`. */
  readonly name: string;
  readonly id: string;
  readonly method: string;
  /** As the description writes it, with `{id}` for what varies. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Schemas of the body by media type; empty where none is described. */
  readonly bodies: Readonly<Record<string, Schema>>;
  /** The credentials that it is made for. */
  readonly ways: readonly ('none' | 'key' | 'cookie')[];
  readonly answers: Readonly<Record<string, DeclaredAnswer>>;
}

export interface DeclaredAnswer {
  readonly description: string;
  readonly content?: Readonly<Record<string, { schema?: Schema }>>;
}

/** As OpenAPI writes it. */
interface OperationObject {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  security?: Record<string, unknown>[];
  responses: Record<string, DeclaredAnswer>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function operationsOf({ paths }: Description): FuzzedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path}`,
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      parameters: described.parameters ?? [],
      bodies: Object.fromEntries(
        Object.entries(described.requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema]),
      ),
      ways: waysOf(described),
      answers: described.responses,
    })),
  );
}

function waysOf({ security = [] }: OperationObject): FuzzedOperation['ways'] {
  if (security.length === 0) return ['none'];
  return security.map((way) => ('apiKey' in way ? 'key' : 'session' in way ? 'cookie' : 'none'));
}

/** What a reference of the description stands for. */
export function resolved(schema: Schema, { components }: Description): Schema {
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/components/schemas/', '') : null;
  if (name === null) return schema;
  const found = components.schemas[name];
  if (!found) throw new Error(`the description has no shape ${name}`);
  return resolved(found, { components, paths: {} });
}
