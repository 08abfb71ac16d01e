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

/** The rate-limit budget of a message, and so the scope that it needs: a tool call counts as the tool's operation. */
export function operationOf({ body }: FastifyRequest): BudgetName {
  if (!isJsonObject(body) || typeof body.method !== 'string') return 'read';
  if (body.method === 'tools/call') {
    return (isJsonObject(body.params) ? toolNamed(body.params.name)?.operation : undefined) ?? 'read';
  }
  return Object.hasOwn(OPERATIONS, body.method) ? OPERATIONS[body.method]! : 'read';
}

/** Methods that read or end the caller's own data. Hosts list resources on every connect, with any token. */
const OPERATIONS: Readonly<Record<string, BudgetName>> = {
  'resources/list': 'session',
  'tasks/get': 'session',
  'tasks/update': 'session',
  'tasks/cancel': 'account',
};
