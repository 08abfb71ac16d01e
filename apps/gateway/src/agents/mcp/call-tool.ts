import { ERRORS, problemBody } from '@eloquentpoll/contracts';
import { requireWriting } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import { toApiError } from '../../http/hooks/to-api-error.ts';
import { untrustedFields } from '../untrusted-fields.ts';
import type { Tool, ToolCall } from './tool.ts';

// Runs a tool. An error becomes a result with isError, so that the calling model can act on it: it has the message,
// code and recovery of the REST operation's error.

/** A type alias, because an interface has no implicit index signature, which the library requires. */
export type ToolResult = {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
};

export const callTool = (tool: Tool, call: ToolCall): Promise<ToolResult> =>
  toolResult(call, async () => {
    refuseSpending(tool, call);
    return tool.run(call);
  });

/** Refuses a tool that spends money, before it starts, to callers with a user id or a read-only key. */
export function refuseSpending(tool: Tool, { request }: Pick<ToolCall, 'request'>): void {
  if (!tool.spends) return;
  if (request.principal?.via === 'user_id') throw mayNotSpend(tool);
  requireWriting(request.principal);
}

type Asked = Pick<ToolCall, 'context' | 'request'>;

export async function toolResult(call: Asked, run: () => Promise<object>): Promise<ToolResult> {
  try {
    const answer = await run();
    const untrusted = untrustedFields(answer);
    return {
      content: [asText(answer)],
      structuredContent: { ...answer },
      ...(untrusted.length > 0 && { _meta: { 'eloquentpoll/untrusted': untrusted } }),
    };
  } catch (error) {
    return failure(toApiError(error), error, call);
  }
}

function failure(known: ApiError, error: unknown, { context, request }: Asked): ToolResult {
  if (ERRORS[known.code].status >= 500) request.log.error({ err: error, code: known.code }, 'mcp.tool_failed');
  const { detail, issues, retryAfterSeconds, recovery, members } = known.circumstances;
  const problem = problemBody(
    { code: known.code, requestId: request.id, detail, issues, retryAfterSeconds, recovery, members },
    context.config.baseUrl,
  );
  const { type: _type, title: _title, status: _status, instance: _instance, ...details } = problem;
  return { content: [asText(details)], isError: true };
}

const mayNotSpend = ({ definition }: Tool): ApiError =>
  new ApiError('authentication_required', {
    detail: `${definition.name} costs money and needs an API key; a user id reads only.`,
  });

const asText = (value: object) => ({ type: 'text', text: JSON.stringify(value) }) as const;
