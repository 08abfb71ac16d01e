// The parts of our OpenAPI document that the reference reads.

export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components?: ApiComponents;
  tags?: { name: string; description?: string }[];
}

export interface ApiComponents {
  schemas?: Record<string, ApiSchema>;
  responses?: Record<string, DocumentedAnswer>;
  parameters?: Record<string, ApiParameter>;
}

/** An answer, or a reference to one with its own description. */
export interface DocumentedAnswer {
  $ref?: string;
  description?: string;
  content?: Record<string, ApiContent>;
}

export interface ApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  parameters?: ApiParameter[];
  requestBody?: { content: Record<string, ApiContent> };
  responses: Record<string, DocumentedAnswer>;
  security?: Record<string, unknown>[];
  'x-agent-hints'?: { usage: { when_to_use: string[]; when_not_to_use: string[]; idempotency_key: boolean } };
}

export interface ApiParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: ApiSchema;
  example?: unknown;
}

interface ApiContent {
  schema?: ApiSchema;
  example?: unknown;
}

export interface ApiSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  description?: string;
  deprecated?: boolean;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  additionalProperties?: boolean | ApiSchema;
}

/** The name that a `$ref` refers to. */
export const shapeName = ({ $ref }: { $ref?: string }): string | null => $ref?.split('/').at(-1) ?? null;
