import { ChatError, type ErrorCode } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { type AnswerSchema, errors } from './answers.ts';
import type { ApiError } from './api-error.ts';

// Under /v1 every error has the form that clients of the OpenAI API read, whatever they accept.

/** For any path, with or without a route. */
export const isChatPath = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url);

/** As `errors`, for operations under /v1. */
export const chatErrors = (...codes: readonly ErrorCode[]): Record<number, AnswerSchema> =>
  Object.fromEntries(
    Object.entries(errors(...codes)).map(([status, answer]) => [
      status,
      { ...answer, content: { 'application/json': { schema: Type.Ref(ChatError) } } },
    ]),
  );

/** These clients repeat a 5xx by themselves. Without a key that may be a second poll beside one that goes on. */
export const isRetriedAtACost = ({ code, circumstances }: ApiError, idempotencyKey: string | null): boolean =>
  (code === 'poll_execution_failed' || circumstances.leavesPoll !== undefined) && idempotencyKey === null;
