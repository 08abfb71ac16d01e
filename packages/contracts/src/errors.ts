// The closed list of errors: every code the world can see, with its status and what to do about it. The gateway's
// error handler, Problem Details and the catalogue endpoint all read this file; a code that is not here does not exist.

/** What a client can do about an error. Paths are relative to the service's base URL. */
export const RECOVERY_ACTIONS = {
  re_authenticate: {
    description: 'Send a valid API key as a bearer token, or log in.',
    method: 'GET',
    path: '/api/auth/login',
  },
  add_funds: {
    description:
      'Buy credit by card on the dashboard, or deposit USDC from a wallet of this account: a deposit fills the account of the wallet that pays.',
    method: 'POST',
    path: '/api/deposit',
  },
  open_account: {
    description: 'Deposit USDC: a wallet that is new here gets an account and its first API key.',
    method: 'POST',
    path: '/api/deposit',
  },
  back_off: { description: 'Wait, then send the same request again.' },
  ask_again: {
    description:
      'Ask again as a new poll, with another Idempotency-Key or none: the same key, and the same session, find the poll that has failed.',
  },
  open_documentation: {
    description: 'See this operation in the API reference.',
    method: 'GET',
    path: '/api/docs',
  },
  use_free_poll: {
    description: 'Ask a free quick poll instead: open-weight models, tighter limits, no credentials.',
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
    'Something in the request is missing, of the wrong type or beyond a limit.',
  ),
  invalid_preset: change(400, 'Invalid preset', 'The preset is not one of broad, fast or strong.'),
  invalid_wallet_address: change(400, 'Invalid wallet address', 'The address is not a 0x-prefixed Ethereum address.'),
  missing_text: change(400, 'Missing text', 'Intent matching needs a text that is not blank.'),
  invalid_task_input: change(400, 'Invalid task input', 'No message part holds JSON with a question and options.'),
  invalid_payment: change(400, 'Invalid payment', 'The payment header is not a readable x402 payment.'),
  invalid_webhook: change(400, 'Invalid webhook', 'The event is not signed by the payment processor, or too old.'),
  batch_invalid: change(
    400,
    'Invalid batch',
    'Rows of the batch are invalid; `errors` has the first of them with their lines. Nothing of it runs.',
  ),
  malformed_json: change(400, 'Malformed JSON', 'The body is not JSON in UTF-8.'),
  bad_request: change(400, 'Bad request', 'The request is not well-formed HTTP.'),

  authentication_required: logIn('Authentication required', 'The operation needs credentials and none were sent.'),
  invalid_api_key: logIn('Invalid API key', 'The bearer token is not an active API key.'),
  login_failed: logIn('Login failed', 'The identity provider did not confirm the login.'),
  invalid_wallet_signature: logIn('Invalid wallet signature', 'The signature is wrong, used before or too old.'),

  insufficient_balance: pay('Insufficient balance', 'The available balance does not cover what the poll may cost.'),
  key_budget_reached: change(
    402,
    'Spending limit of the key reached',
    'What is left of the limit of this API key does not cover what the poll may cost; the account may have more.',
  ),
  payment_required: pay('Payment required', 'The deposit needs a payment; the requirements are in the body.'),
  payment_verification_failed: pay('Payment verification failed', 'The payment proof was not accepted.'),
  payment_invalid_signature: pay('Payment signature invalid', 'The authorization is not signed by its payer.'),
  payment_expired: pay('Payment expired', 'The authorization has ended, ends too soon, or is valid for too long.'),
  payment_not_yet_valid: pay('Payment not yet valid', 'The time window of the authorization has not begun.'),
  payment_amount_mismatch: pay('Payment amount mismatch', 'The payment is not for exactly the amount asked.'),
  payment_network_mismatch: pay('Payment network mismatch', 'The payment is on another network or in another asset.'),
  payment_payee_mismatch: pay('Payment payee mismatch', 'The payment is to another receiver than the terms name.'),
  payment_already_used: pay('Payment already used', 'This payment proof was credited before.'),
  payment_insufficient_funds: pay('Payer has insufficient funds', 'The paying wallet does not hold the amount.'),
  payment_settlement_failed: pay('Payment settlement failed', 'The payment could not be settled on chain.'),

  insufficient_scope: change(
    403,
    'Insufficient scope',
    'The access token was not granted what the operation needs; the WWW-Authenticate header names the scope.',
  ),
  read_only_key: change(403, 'Read-only key', 'The API key may read, and neither ask nor change anything.'),
  restricted_key: change(
    403,
    'Restricted key',
    'An API key that has a limit, expires or reads only manages neither keys nor the account; a login or another key does.',
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
    description: 'The operation takes a login that was made a moment ago.',
    retryable: false,
    recovery: ['re_authenticate', 'open_documentation'],
  },
  forbidden_origin: change(403, 'Forbidden origin', 'Browsers may not call this operation from that origin.'),

  not_found: change(404, 'Not found', 'There is nothing at this path.'),
  model_not_found: change(
    404,
    'Model not found',
    'No model of the chat interface has this id; GET /v1/models lists them.',
  ),
  result_not_found: change(404, 'Result not found', 'No result has this id.'),
  receipt_not_found: change(
    404,
    'Receipt not found',
    'The result has no receipt: it is older than receipts, or what is stored of it has changed.',
  ),
  session_not_found: change(404, 'Session not found', 'No poll session of yours has this id.'),
  batch_not_found: change(404, 'Batch not found', 'No batch of yours has this id.'),
  report_not_found: change(404, 'Report not found', 'No row of the batch says its right answer.'),
  poll_not_found: change(404, 'Poll not found', 'No poll has this id.'),
  key_not_found: change(404, 'Key not found', 'No active API key of yours has this id.'),
  panel_not_found: change(404, 'Panel not found', 'The account has no saved panel of this name.'),
  webhook_endpoint_not_found: change(404, 'Webhook endpoint not found', 'No webhook endpoint of yours has this id.'),
  webhook_delivery_not_found: change(
    404,
    'Webhook delivery not found',
    'The endpoint has no delivery of this id; deliveries are kept for 30 days.',
  ),
  wallet_not_found: change(404, 'Wallet not found', 'No account belongs to this wallet.'),
  language_not_found: change(404, 'Unknown language', 'There is no example in this language.'),
  surface_not_found: change(404, 'Surface not found', 'No surface has this pattern id.'),

  method_not_allowed: change(405, 'Method not allowed', 'The path exists; the Allow header names its methods.'),
  not_acceptable: change(406, 'Not acceptable', 'The operation cannot answer in a media type that Accept allows.'),
  request_timeout: wait(408, 'Request timeout', 'The request did not arrive completely in time.'),
  balance_left: change(
    409,
    'Balance left',
    'The account has money left: spend it, have it paid back, or say that it is given up.',
  ),
  poll_running: change(
    409,
    'Poll still runs',
    'A poll is deleted once it has ended: cancel it with POST /api/polls/{id}/cancel, or wait.',
  ),
  key_limit_reached: change(
    409,
    'Too many keys',
    'The account has as many active API keys as it may; revoke one first.',
  ),
  panel_limit_reached: change(
    409,
    'Too many panels',
    'The account has as many saved panels as it may; remove one first.',
  ),
  webhook_limit_reached: change(
    409,
    'Too many webhook endpoints',
    'The account has as many webhook endpoints as it may; remove one first.',
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
    'A card payment of the account is not decided, or could not be looked up: repeat it later.',
  ),
  idempotency_conflict: wait(409, 'Request in progress', 'A request with the same Idempotency-Key is still running.'),
  deposit_in_progress: wait(409, 'Deposit in progress', 'This payment is being settled right now.'),
  payload_too_large: change(413, 'Payload too large', 'The body is larger than the operation accepts.'),
  uri_too_long: change(414, 'URI too long', 'The path is longer than the service accepts.'),
  unsupported_media_type: change(415, 'Unsupported media type', 'Bodies are JSON with Content-Type application/json.'),
  expectation_failed: change(417, 'Expectation failed', 'The only expectation that is met is 100-continue.'),
  idempotency_key_reused: change(422, 'Idempotency key reused', 'This Idempotency-Key came with another body before.'),
  poll_failed: {
    status: 422,
    title: 'Poll failed',
    description:
      'The poll ended without a valid vote. Nothing was charged, unless its question made models fail and the account had used up what it has free of that for the day. Another poll with the same question may succeed.',
    retryable: false,
    recovery: ['ask_again', 'open_documentation'],
  },
  poll_canceled: change(422, 'Poll canceled', 'The poll was canceled before a model had voted.'),
  budget_too_small: change(
    422,
    'max_cost_usd is too small',
    'max_cost_usd does not cover what a single vote of the preset may cost; no model was asked and nothing was charged. `min_cost_usd` is the least that does.',
  ),
  too_many_running: wait(
    429,
    'Too many running polls',
    'As many polls of this account, or of this network without credentials, are running as may at once.',
  ),
  too_many_batches: wait(429, 'Too many batches', 'As many batches of the account have not ended as may at once.'),
  rate_limited: wait(429, 'Too many requests', 'A rate limit or a daily cap is reached; Retry-After says until when.'),
  headers_too_large: change(431, 'Headers too large', 'The header fields are larger than the service accepts.'),

  poll_execution_failed: wait(500, 'Poll execution failed', 'The poll could not be run to its end.'),
  internal_error: wait(
    500,
    'Internal error',
    'Something went wrong on our side; the request id helps to find out what.',
  ),
  upstream_registry_error: wait(502, 'Model registry error', 'The upstream model registry did not answer properly.'),
  payment_processor_error: wait(502, 'Payment processor error', 'The payment processor did not answer properly.'),
  registry_not_configured: change(503, 'Model registry not configured', 'This service has no model registry address.'),
  not_configured: change(503, 'Not configured', 'The operator has not set this feature up.'),
  provider_budget_reached: wait(
    503,
    'Provider budget reached',
    'What model providers may cost this service per hour or day is used up or set aside; Retry-After says until when.',
  ),
  polls_stopped: wait(503, 'Polls stopped', 'The operator accepts no polls, or no free ones, for now.'),
  account_moving: wait(
    503,
    'Account moving',
    'The account is being moved to another part of this service, and can neither ask nor change anything for some seconds.',
  ),
  service_unavailable: wait(503, 'Service unavailable', 'A part that the operation needs is out of reach for now.'),
} as const satisfies Record<string, CatalogEntry>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
