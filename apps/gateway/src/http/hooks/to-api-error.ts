import { ERRORS, type ErrorCode } from '@eloquentpoll/contracts';
import { AccountClosed, AccountMoving, isStorageError, StorageRefused } from '@eloquentpoll/storage';
import { ApiError } from '../api-error.ts';

// Maps any error to an API error: the framework's errors by code or status, a store that is away to 503. Everything
// else is a bug, of which the caller sees only the request id.

const BY_FRAMEWORK_CODE: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};

const BY_STATUS: Record<number, ErrorCode> = {
  400: 'bad_request',
  404: 'not_found',
  406: 'not_acceptable',
  408: 'request_timeout',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  431: 'headers_too_large',
  503: 'service_unavailable',
};

const RETRY_AFTER_SECONDS = 2;

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof AccountMoving) return accountMoving(error);
  // The same answer as the account's next request will get, because its keys and logins no longer work.
  if (error instanceof AccountClosed) return new ApiError('authentication_required', { cause: error });
  if (isStorageError(error) && !(error instanceof StorageRefused)) return unavailable(error);
  const code = frameworkCode(error);
  if (code === 'service_unavailable') return unavailable(error);
  // Happens with curl without a content type: the description names the right one.
  if (code === 'unsupported_media_type') return new ApiError(code, { detail: ERRORS[code].description, cause: error });
  return new ApiError(code ?? 'internal_error', { cause: error });
}

const unavailable = (cause: unknown): ApiError =>
  new ApiError('service_unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });

/** A router sends the request on to the other cell (see infra/cells). Without a router the caller retries. */
const accountMoving = (error: AccountMoving): ApiError =>
  new ApiError('account_moving', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...(error.movedTo !== null && { headers: { 'x-accel-redirect': `@ep_cell_${error.movedTo}` } }),
    cause: error,
  });

function frameworkCode(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('FST_')) return undefined;
  const status = 'statusCode' in error ? Number(error.statusCode) : 500;
  return BY_FRAMEWORK_CODE[String(error.code)] ?? BY_STATUS[status];
}
