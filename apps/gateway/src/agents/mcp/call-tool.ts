import { ERRORS, problemBody } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import { toApiError } from '../../http/hooks/to-api-error.ts';
import type { Tool, ToolCall } from './tool.ts';

// A tool's answer in the form of the protocol. What goes wrong while a tool runs is an answer too, which its caller, a
// model, can read and act on: the words, the code and the ways out that the REST operation would have given.

/** A type, so that it has the index signature that the library asks for. */
export type ToolAnswer = {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

export async function callTool(tool: Tool, call: ToolCall): Promise<ToolAnswer> {
  try {
    if (tool.spends && call.request.principal?.via === 'user_id') throw mayNotSpend(tool);
    const answer = await tool.run(call);
    return { content: [asText(answer)], structuredContent: { ...answer } };
  } catch (error) {
    return failure(toApiError(error), error, call);
  }
}

function failure(known: ApiError, error: unknown, { context, request }: ToolCall): ToolAnswer {
  if (ERRORS[known.code].status >= 500) request.log.error({ err: error, code: known.code }, 'tool failed');
  const { detail, issues, retryAfterSeconds, recovery, members } = known.circumstances;
  const problem = problemBody(
    { code: known.code, requestId: request.id, detail, issues, retryAfterSeconds, recovery, members },
    context.config.baseUrl,
  );
  const { type: _type, title: _title, status: _status, instance: _instance, ...told } = problem;
  return { content: [asText(told)], isError: true };
}

const mayNotSpend = ({ definition }: Tool): ApiError =>
  new ApiError('authentication_required', {
    detail: `${definition.name} costs money and needs an API key; a user id reads only.`,
  });

const asText = (value: object) => ({ type: 'text', text: JSON.stringify(value) }) as const;
