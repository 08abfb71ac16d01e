import { type Static, Type } from '@sinclair/typebox';

// The part of OpenAI's chat completion request that a vote uses. Everything else is accepted and ignored.

const TextPart = Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) });

export const ChatRequest = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  messages: Type.Array(
    Type.Object({
      role: Type.String(),
      content: Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Array(TextPart)])),
    }),
    { minItems: 1, maxItems: 200 },
  ),
  tools: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.Literal('function'),
        function: Type.Object({ name: Type.String(), parameters: Type.Optional(Type.Unknown()) }),
      }),
      { maxItems: 100 },
    ),
  ),
  tool_choice: Type.Optional(Type.Unknown()),
  response_format: Type.Optional(
    Type.Object({
      type: Type.String(),
      json_schema: Type.Optional(Type.Object({ schema: Type.Optional(Type.Unknown()) })),
    }),
  ),
  stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  stream_options: Type.Optional(
    Type.Union([Type.Object({ include_usage: Type.Optional(Type.Boolean()) }), Type.Null()]),
  ),
  max_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
  max_completion_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
});
export type ChatRequest = Static<typeof ChatRequest>;

export function textOf(message: ChatRequest['messages'][number]): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => part.text ?? '').join('');
}

/** The requested form of the answer: a tool call, JSON of a schema, or text. */
export type Channel =
  | { kind: 'tool'; name: string; schema: JsonSchema }
  | { kind: 'json'; schema: JsonSchema }
  | { kind: 'text'; wantsReason: boolean };

export interface JsonSchema {
  properties: [name: string, type: string, allowed: readonly string[]][];
}

export function channelOf(request: ChatRequest): Channel {
  const tools = request.tools ?? [];
  if (tools.length > 0 && request.tool_choice !== 'none') {
    const wanted = recordOf(recordOf(request.tool_choice).function).name;
    const tool = tools.find((candidate) => candidate.function.name === wanted) ?? tools[0]!;
    return { kind: 'tool', name: tool.function.name, schema: readSchema(tool.function.parameters) };
  }
  const format = request.response_format;
  if (format === undefined || format.type === 'text') return { kind: 'text', wantsReason: asksReason(request) };
  return { kind: 'json', schema: readSchema(format.json_schema?.schema) };
}

const asksReason = ({ messages }: ChatRequest): boolean =>
  messages.some((message) => message.role === 'system' && /\breason\b/.test(textOf(message)));

function readSchema(schema: unknown): JsonSchema {
  const properties = Object.entries(recordOf(recordOf(schema).properties));
  return {
    properties: properties.map(([name, value]) => {
      const { type, enum: allowed } = recordOf(value);
      const texts = Array.isArray(allowed) ? allowed.filter((item) => typeof item === 'string') : [];
      return [name, typeof type === 'string' ? type : 'string', texts];
    }),
  };
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
