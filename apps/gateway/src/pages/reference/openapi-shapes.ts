// What the reference reads of our own OpenAPI document.

export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components?: { schemas?: Record<string, ApiSchema> };
  tags?: { name: string; description?: string }[];
}

export interface ApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  parameters?: ApiParameter[];
  requestBody?: { content: Record<string, ApiContent> };
  responses: Record<string, { description: string; content?: Record<string, ApiContent> }>;
  security?: Record<string, unknown>[];
  'x-agent-hints'?: { usage: { when_to_use: string[]; when_not_to_use: string[]; idempotency_key: boolean } };
}

export interface ApiParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: ApiSchema;
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

/** The name of a shape that is referred to. */
export const shapeName = ({ $ref }: ApiSchema): string | null => $ref?.split('/').at(-1) ?? null;
