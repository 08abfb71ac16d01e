// The closed list of errors: every code that a caller can receive, with its status and what to do about it. The
// gateway's error handler, Problem Details and the catalogue endpoint read this file; there are no other codes.

/** What a client can do about an error. Paths are relative to the service's base URL. */
export const RECOVERY_ACTIONS = {
  re_authenticate: {
    description: 'Send a valid API key as a bearer token, or log in.',
    method: 'GET',
    path: '/api/auth/login',
  },
  add_funds: {
    description:
      'Buy credit by card on the dashboard, or deposit USDC from a wallet of this account. A deposit is credited to the account of the wallet that pays.',
    method: 'POST',
    path: '/api/deposit',
  },
  open_account: {
    description: 'Deposit USDC from a new wallet: it gets an account and its first API key.',
    method: 'POST',
    path: '/api/deposit',
  },
  back_off: { description: 'Wait, then send the same request again.' },
  ask_again: {
    description:
      'Submit a new poll, with another Idempotency-Key or none. The same key or session returns the failed poll.',
  },
  open_documentation: {
    description: 'Read about this operation in the API reference.',
    method: 'GET',
    path: '/api/docs',
  },
  use_free_poll: {
    description: 'Run a free quick poll instead: open-weight models, lower limits, no credentials.',
    method: 'POST',
    path: '/api/quick-poll',
  },
} as const satisfies Record<string, { description: string; method?: string; path?: string }>;
export type RecoveryAction = keyof typeof RECOVERY_ACTIONS;

export interface CatalogEntry {
  status: number;
  title: string;
  description: string;
  /** Whether the same request can succeed later without a change. */
  retryable: boolean;
  recovery: readonly RecoveryAction[];
}

const change = (status: number, title: string, description: string) =>
  ({ status, title, description, retryable: false, recovery: ['open_documentation'] }) as const;
const wait = (status: number, title: string, description: string) =>
  ({ status, title, description, retryable: true, recovery: ['back_off'] }) as const;
const logIn = (title: string, description: string) =>
  ({ status: 401, title, description, retryable: false, recovery: ['re_authenticate', 'open_documentation'] }) as const;
const pay = (title: string, description: string) =>
  ({ status: 402, title, description, retryable: false, recovery: ['add_funds', 'open_documentation'] }) as const;

export const ERRORS = {
  validation_error: change(
    400,
    'Invalid request',
    'A field of the request is missing, has the wrong type or exceeds a limit.',
  ),
  invalid_preset: change(400, 'Invalid preset', 'The preset is not one of broad, fast or strong.'),
  invalid_wallet_address: change(400, 'Invalid wallet address', 'The address is not a 0x-prefixed Ethereum address.'),
  missing_text: change(400, 'Missing text', 'Intent matching needs a text that is not empty.'),
  invalid_task_input: change(
    400,
    'Invalid task input',
    'No part of the message contains a question and options: neither JSON nor a text that ends with options in brackets.',
  ),
  invalid_payment: change(400, 'Invalid payment', 'The payment header is not a valid x402 payment.'),
  invalid_webhook: change(
    400,
    'Invalid webhook',
    'The event is not signed by the payment processor, or it is too old.',
  ),
  batch_invalid: change(
    400,
    'Invalid batch',
    'The batch has invalid rows; `errors` lists the first of them with their lines. No row was run.',
  ),
  malformed_json: change(400, 'Malformed JSON', 'The body is not valid JSON in UTF-8.'),
  bad_request: change(400, 'Bad request', 'The request is not valid HTTP.'),

  authentication_required: logIn('Authentication required', 'The operation needs credentials, but none were sent.'),
  invalid_api_key: logIn('Invalid API key', 'The bearer token is not an active API key.'),
  login_failed: logIn('Login failed', 'The identity provider did not confirm the login.'),
  invalid_wallet_signature: logIn('Invalid wallet signature', 'The signature is wrong, was used before or is too old.'),

  insufficient_balance: pay(
    'Insufficient balance',
    'The available balance does not cover the maximum cost of the poll.',
  ),
  key_budget_reached: change(
    402,
    'Spending limit of the key reached',
    'The rest of the spending limit of this API key does not cover the maximum cost of the poll. The account may have more.',
  ),
  payment_required: pay('Payment required', 'The deposit needs a payment; the body contains the payment requirements.'),
  payment_verification_failed: pay('Payment verification failed', 'The payment proof was not accepted.'),
  payment_invalid_signature: pay('Payment signature invalid', 'The authorization is not signed by the payer.'),
  payment_expired: pay('Payment expired', 'The authorization has expired, expires too soon, or is valid for too long.'),
  payment_not_yet_valid: pay('Payment not yet valid', 'The time window of the authorization has not begun.'),
  payment_amount_mismatch: pay('Payment amount mismatch', 'The payment is not for exactly the required amount.'),
  payment_network_mismatch: pay('Payment network mismatch', 'The payment is on another network or in another asset.'),
  payment_payee_mismatch: pay(
    'Payment payee mismatch',
    'The payee of the payment is not the one in the payment requirements.',
  ),
  payment_already_used: pay('Payment already used', 'This payment proof was credited before.'),
  payment_insufficient_funds: pay(
    'Payer has insufficient funds',
    'The balance of the paying wallet is less than the amount.',
  ),
  payment_settlement_failed: pay('Payment settlement failed', 'The payment could not be settled on chain.'),

  insufficient_scope: change(
    403,
    'Insufficient scope',
    'The access token lacks a scope that the operation needs; the WWW-Authenticate header names it.',
  ),
  read_only_key: change(
    403,
    'Read-only key',
    'The API key is read-only: it can neither run polls nor change anything.',
  ),
  restricted_key: change(
    403,
    'Restricted key',
    'An API key that has a limit, expires or is read-only cannot manage keys or the account. Use a login or an unrestricted key.',
  ),
  account_frozen: {
    status: 403,
    title: 'Account frozen',
    description: 'The operator of this service has frozen the account; its keys and logins are refused.',
    retryable: false,
    recovery: ['open_documentation'],
  },
  recent_login_required: {
    status: 403,
    title: 'Sign in again',
    description: 'The operation needs a recent login.',
    retryable: false,
    recovery: ['re_authenticate', 'open_documentation'],
  },
  forbidden_origin: change(403, 'Forbidden origin', 'Browsers may not call this operation from this origin.'),

  not_found: change(404, 'Not found', 'There is nothing at this path.'),
  model_not_found: change(
    404,
    'Model not found',
    'The chat interface has no model with this id; GET /v1/models lists all models.',
  ),
  result_not_found: change(404, 'Result not found', 'There is no result with this id.'),
  receipt_not_found: change(
    404,
    'Receipt not found',
    'The result has no receipt: it is older than the receipts feature, or its stored data has changed.',
  ),
  session_not_found: change(404, 'Session not found', 'Your account has no poll session with this id.'),
  batch_not_found: change(404, 'Batch not found', 'Your account has no batch with this id.'),
  report_not_found: change(
    404,
    'Report not found',
    'The batch has no report because none of its rows contains the right answer.',
  ),
  poll_not_found: change(404, 'Poll not found', 'There is no poll with this id.'),
  key_not_found: change(404, 'Key not found', 'Your account has no active API key with this id.'),
  panel_not_found: change(404, 'Panel not found', 'Your account has no saved panel with this name.'),
  webhook_endpoint_not_found: change(
    404,
    'Webhook endpoint not found',
    'Your account has no webhook endpoint with this id.',
  ),
  webhook_delivery_not_found: change(
    404,
    'Webhook delivery not found',
    'The endpoint has no delivery with this id. Deliveries are kept for 30 days.',
  ),
  wallet_not_found: change(404, 'Wallet not found', 'This wallet has no account.'),
  language_not_found: change(404, 'Unknown language', 'There is no example in this language.'),
  surface_not_found: change(404, 'Surface not found', 'There is no surface with this pattern id.'),

  method_not_allowed: change(
    405,
    'Method not allowed',
    'The path does not support this method; the Allow header lists the methods that it supports.',
  ),
  not_acceptable: change(
    406,
    'Not acceptable',
    'The operation cannot respond in any media type that the Accept header allows.',
  ),
  request_timeout: wait(408, 'Request timeout', 'The request did not arrive completely in time.'),
  balance_left: change(
    409,
    'Balance left',
    'The account still has a balance. Spend it, have it refunded, or state that you give it up.',
  ),
  poll_running: change(
    409,
    'Poll still running',
    'A running poll cannot be deleted. Cancel it with POST /api/polls/{id}/cancel, or wait for its end.',
  ),
  key_limit_reached: change(
    409,
    'Too many keys',
    'The account has the maximum number of active API keys; revoke one first.',
  ),
  panel_limit_reached: change(
    409,
    'Too many panels',
    'The account has the maximum number of saved panels; delete one first.',
  ),
  webhook_limit_reached: change(
    409,
    'Too many webhook endpoints',
    'The account has the maximum number of webhook endpoints; remove one first.',
  ),
  webhook_disabled: change(
    409,
    'Webhook endpoint disabled',
    'Nothing is sent to a disabled endpoint; enable it with PATCH and status `enabled`.',
  ),
  batch_not_ended: wait(409, 'Batch not ended', 'The batch has not ended; cancel it first, or wait for its end.'),
  payment_under_way: wait(
    409,
    'Payment under way',
    'A card payment of the account is still being processed, or its state could not be looked up. Repeat the request later.',
  ),
  idempotency_conflict: wait(409, 'Request in progress', 'A request with the same Idempotency-Key is still running.'),
  deposit_in_progress: wait(409, 'Deposit in progress', 'This payment is being settled right now.'),
  payload_too_large: change(413, 'Payload too large', 'The body is larger than the operation accepts.'),
  uri_too_long: change(414, 'URI too long', 'The path is longer than the service accepts.'),
  unsupported_media_type: change(415, 'Unsupported media type', 'Bodies are JSON with Content-Type application/json.'),
  expectation_failed: change(417, 'Expectation failed', 'The only supported expectation is 100-continue.'),
  idempotency_key_reused: change(
    422,
    'Idempotency key reused',
    'This Idempotency-Key was used before with another body.',
  ),
  poll_failed: {
    status: 422,
    title: 'Poll failed',
    description:
      'The poll ended without a valid vote. Nothing was charged, unless its question caused the failed calls and the account had used up its daily allowance for such calls. Another poll with the same question may succeed.',
    retryable: false,
    recovery: ['ask_again', 'open_documentation'],
  },
  poll_canceled: change(422, 'Poll canceled', 'The poll was canceled before any model had voted.'),
  budget_too_small: change(
    422,
    'max_cost_usd is too small',
    'max_cost_usd does not cover the maximum cost of a single vote of the preset. No model was asked and nothing was charged. `min_cost_usd` is the lowest sufficient value.',
  ),
  too_many_running: wait(
    429,
    'Too many running polls',
    'The maximum number of running polls is reached for this account, or for this network if no credentials were sent.',
  ),
  too_many_batches: wait(429, 'Too many batches', 'The account has the maximum number of open batches.'),
  rate_limited: wait(
    429,
    'Too many requests',
    'A rate limit or a daily cap is reached; Retry-After says when to try again.',
  ),
  headers_too_large: change(431, 'Headers too large', 'The request headers are larger than the service accepts.'),

  poll_execution_failed: wait(500, 'Poll execution failed', 'The poll could not be completed.'),
  internal_error: wait(500, 'Internal error', 'The service failed. Include the request id when you report this.'),
  upstream_registry_error: wait(
    502,
    'Model registry error',
    'The model registry did not respond, or its response was invalid.',
  ),
  payment_processor_error: wait(
    502,
    'Payment processor error',
    'The payment processor did not respond, or its response was invalid.',
  ),
  registry_not_configured: change(
    503,
    'Model registry not configured',
    'No model registry is configured for this service.',
  ),
  not_configured: change(503, 'Not configured', 'The operator has not configured this feature.'),
  provider_budget_reached: wait(
    503,
    'Provider budget reached',
    'The ceiling of provider spend per hour or day is reached, including holds of running polls. Retry-After says when to try again.',
  ),
  polls_stopped: wait(503, 'Polls stopped', 'The operator has temporarily stopped all polls, or only the free ones.'),
  account_moving: wait(
    503,
    'Account moving',
    'The account is being moved to another part of this service. For some seconds it can neither run polls nor change anything.',
  ),
  service_unavailable: wait(
    503,
    'Service unavailable',
    'A component that the operation needs is temporarily unavailable.',
  ),
} as const satisfies Record<string, CatalogEntry>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
