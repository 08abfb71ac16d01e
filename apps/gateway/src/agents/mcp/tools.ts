import { isJsonObject } from '@eloquentpoll/contracts';
import type { FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import type { Tool } from './tool.ts';
import { getBalance } from './tools/get-balance.ts';
import { getPollResult } from './tools/get-poll-result.ts';
import { pollQuestion } from './tools/poll-question.ts';

/** Listed in this order. */
export const TOOLS: readonly Tool[] = [pollQuestion, getPollResult, getBalance];

export const toolNamed = (name: unknown): Tool | undefined => TOOLS.find(({ definition }) => definition.name === name);

/** The rate limit of a message: a tool call counts as the tool's operation, a list of one's results as account. */
export function operationOf({ body }: FastifyRequest): BudgetName {
  if (isJsonObject(body) && body.method === 'resources/list') return 'account';
  if (!isJsonObject(body) || body.method !== 'tools/call' || !isJsonObject(body.params)) return 'read';
  return toolNamed(body.params.name)?.operation ?? 'read';
}
