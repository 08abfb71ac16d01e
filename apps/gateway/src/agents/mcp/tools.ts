import type { FastifyRequest } from 'fastify';
import type { Operation } from '../../config/rate-limit-policies.ts';
import { isObject } from '../json-rpc.ts';
import type { Tool } from './tool.ts';
import { getBalance } from './tools/get-balance.ts';
import { getPollResult } from './tools/get-poll-result.ts';
import { pollQuestion } from './tools/poll-question.ts';

/** Listed in this order. */
export const TOOLS: readonly Tool[] = [pollQuestion, getPollResult, getBalance];

export const toolNamed = (name: unknown): Tool | undefined => TOOLS.find(({ definition }) => definition.name === name);

/** The rate limit of a message: a tool call counts as the tool's operation, any other message as a read. */
export function operationOf({ body }: FastifyRequest): Operation {
  if (!isObject(body) || body.method !== 'tools/call' || !isObject(body.params)) return 'read';
  return toolNamed(body.params.name)?.operation ?? 'read';
}
