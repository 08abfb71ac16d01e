import { ChatError, type ErrorCode } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { type AnswerSchema, errors } from './answers.ts';
import type { ApiError } from './api-error.ts';

// Under /v1 every error has the format of the OpenAI API, whatever the request accepts.

/** For any path, whether or not a route exists. */
export const isChatPath = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url);

/** Like `errors`, for operations under /v1. */
export const chatErrors = (...codes: readonly ErrorCode[]): Record<number, AnswerSchema> =>
  Object.fromEntries(
    Object.entries(errors(...codes)).map(([status, answer]) => [
      status,
      { ...answer, content: { 'application/json': { schema: Type.Ref(ChatError) } } },
    ]),
  );

/** OpenAI clients retry after a 5xx. Without an Idempotency-Key, a retry may start a second poll beside the first. */
export const isRetriedAtACost = ({ code, circumstances }: ApiError, idempotencyKey: string | null): boolean =>
  (code === 'poll_execution_failed' || circumstances.leavesPoll !== undefined) && idempotencyKey === null;
