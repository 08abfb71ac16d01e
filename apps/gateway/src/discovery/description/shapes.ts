/** The parts of an OpenAPI document that are rewritten here; all other parts are kept. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, OperationEntry>>;
  /** Messages that are sent to callers. */
  webhooks?: Record<string, object>;
  components: {
    schemas: Record<string, DescribedSchema>;
    responses?: Record<string, DescribedAnswer>;
    headers?: Record<string, object>;
    parameters?: Record<string, object>;
  };
}

export interface OperationEntry {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: DescribedParameter[];
  requestBody?: { content?: Record<string, { schema?: DescribedSchema; example?: unknown }> };
  responses: Record<string, DescribedAnswer | AnswerReference>;
}

export interface DescribedParameter {
  name: string;
  in: string;
  schema?: DescribedSchema;
  example?: unknown;
}

export interface DescribedAnswer {
  description: string;
  content?: Record<string, object>;
  headers?: Record<string, object>;
}

/** Its description replaces that of the answer it refers to (OpenAPI 3.1, Reference Object). */
export interface AnswerReference {
  $ref: string;
  description?: string;
}

export interface DescribedSchema {
  default?: unknown;
  description?: string;
  properties?: Record<string, DescribedSchema>;
  [keyword: string]: unknown;
}

/** The last step of a reference. */
export const nameIn = ({ $ref }: AnswerReference): string => $ref.split('/').at(-1) ?? '';

export const operationsIn = ({
  paths,
}: Pick<OpenApiDocument, 'paths'>): [method: string, path: string, OperationEntry][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, OperationEntry] => [
      method.toUpperCase(),
      path,
      operation,
    ]),
  );
