import type { FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import type { PollsContext } from '../../polls/context.ts';

// A tool wraps a REST operation: it returns the same body, throws the same errors and has the same rate limit.

export interface ToolCall {
  context: PollsContext;
  /** The HTTP request that contains the call. */
  request: FastifyRequest;
  input: Record<string, unknown>;
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
  /** Whether disconnecting cancels the call, which depends on the client's revision. */
  cancelsWhenGone: boolean;
  /** Sends a progress notification if the caller sent a progress token. */
  progress(step: { progress: number; total: number; message: string }): void;
}

export interface Tool {
  /** As shown by tools/list. */
  definition: {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: Record<string, unknown>;
    readonly outputSchema: Record<string, unknown>;
    readonly annotations: {
      readonly title: string;
      readonly readOnlyHint: boolean;
      readonly destructiveHint: boolean;
      readonly idempotentHint: boolean;
      readonly openWorldHint: boolean;
    };
  };
  operation: BudgetName;
  spends: boolean;
  run(call: ToolCall): Promise<object>;
  /** For tools that may take long: starts the work and resolves to the id of its poll. */
  start?(call: ToolCall): Promise<string>;
}

/** Hints for a tool that only reads. */
export const READ_ONLY_HINTS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
