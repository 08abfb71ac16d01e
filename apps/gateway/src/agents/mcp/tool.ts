import type { FastifyRequest } from 'fastify';
import type { Operation } from '../../config/rate-limit-policies.ts';
import type { PollsContext } from '../../polls/context.ts';

// What a tool is to us: how it is described, what it draws from, and what it does. It answers with what the REST
// operation answers, and throws what the REST operation throws.

export interface ToolCall {
  context: PollsContext;
  /** The one HTTP request that carries the call: its caller, its id. */
  request: FastifyRequest;
  input: Record<string, unknown>;
  /** Aborts when the caller hung up. */
  gone: AbortSignal;
  /** Tells how far it is; silent for callers who did not ask. */
  progress(step: { progress: number; total: number; message: string }): void;
}

export interface Tool {
  /** As tools/list shows it. */
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
  operation: Operation;
  spends: boolean;
  run(call: ToolCall): Promise<object>;
}

/** The hints of a tool that looks something up here and changes nothing. */
export const LOOKS_UP = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
