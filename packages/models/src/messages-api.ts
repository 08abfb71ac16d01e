import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';

// Anthropic's Messages API: converts our request to its fields, and its reply to a chat completion.

interface ChatBody extends JsonObject {
  messages: readonly unknown[];
}

export function toMessagesBody({ messages, ...chat }: ChatBody): JsonObject {
  const { response_format, tools, tool_choice: _, output_config, ...rest } = chat;
  const [system, ...others] = messages.filter(isJsonObject);
  const format = isJsonObject(response_format) ? response_format.json_schema : null;
  const config = {
    ...(isJsonObject(output_config) && output_config),
    ...(isJsonObject(format) && { format: { type: 'json_schema', schema: format.schema } }),
  };
  const tool: unknown = Array.isArray(tools) && isJsonObject(tools[0]) ? tools[0].function : null;
  return {
    ...rest,
    system: system?.content,
    messages: others,
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(isJsonObject(tool) && {
      tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters, strict: true }],
      tool_choice: { type: 'tool', name: tool.name },
    }),
  };
}

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/**
 * Thinking blocks are dropped. A reply that is no message is returned unchanged, and will not be read as a completion.
 */
export function fromMessagesReply(reply: unknown): unknown {
  if (!isJsonObject(reply) || !Array.isArray(reply.content)) return reply;
  const blocks = reply.content.filter(isJsonObject);
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  const message = {
    role: 'assistant',
    content: texts.length > 0 ? texts.join('') : null,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ name, input }) => ({ function: { name, arguments: JSON.stringify(input) } })),
    }),
  };
  const finish_reason = FINISH[String(reply.stop_reason)] ?? reply.stop_reason;
  return {
    choices: [{ index: 0, finish_reason, message }],
    ...(isJsonObject(reply.usage) && { usage: isUnbilled(reply) ? NO_TOKENS : usageOf(reply.usage) }),
  };
}

/**
 * Anthropic does not charge for a refusal before the model has written anything. Its token counts are only informative.
 */
const isUnbilled = ({ stop_reason, usage }: JsonObject): boolean =>
  stop_reason === 'refusal' && isJsonObject(usage) && usage.output_tokens === 0;
const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0 };

/** Input that was written to or read from a cache is counted separately, and billed as well. */
function usageOf(usage: JsonObject): JsonObject {
  const { input_tokens: input, output_tokens: output } = usage;
  const cached = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
  if (typeof input !== 'number') return {};
  const prompt_tokens = cached.reduce<number>((sum, each) => sum + (typeof each === 'number' ? each : 0), input);
  return { prompt_tokens, completion_tokens: output };
}
