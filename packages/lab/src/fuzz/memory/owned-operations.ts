import type { ThingKind } from './remembered.ts';

// What the rules know about operations: which thing their path names, what they end, and what repeats itself.

/** Others get 404 for a thing named by the path, and so does its owner once it is gone. */
export const OWN_THINGS: Readonly<Record<string, ThingKind>> = {
  getSessionStatus: 'session',
  getSessionResult: 'session',
  cancelSession: 'session',
  getBatch: 'batch',
  getBatchResults: 'batch',
  getBatchReport: 'batch',
  cancelBatch: 'batch',
  deleteBatch: 'batch',
  deleteResult: 'result',
  changeKey: 'key-id',
  revokeKey: 'key-id',
  getWebhookEndpoint: 'endpoint',
  changeWebhookEndpoint: 'endpoint',
  removeWebhookEndpoint: 'endpoint',
  getWebhookSecret: 'endpoint',
  rotateWebhookSecret: 'endpoint',
  listWebhookDeliveries: 'endpoint',
  testWebhookEndpoint: 'endpoint',
  getDashboardWebhook: 'endpoint',
  sendWebhookTest: 'endpoint',
  sendSecretRotation: 'endpoint',
  sendEndpointEnabling: 'endpoint',
  sendEndpointDisabling: 'endpoint',
  sendEndpointRemoval: 'endpoint',
  resendWebhookDelivery: 'delivery',
  sendResend: 'delivery',
  getPanel: 'panel',
  removePanel: 'panel',
};

/** For all who hold the id, until the result is gone. */
export const PUBLIC_THINGS: Readonly<Record<string, ThingKind>> = {
  getResult: 'result',
  getMermaid: 'result',
  getResultPage: 'result',
};

/** Those that end what their path or body names when they answer well. */
export const ENDED_BY: Readonly<Record<string, ThingKind>> = {
  deleteBatch: 'batch',
  sendBatchDeletion: 'batch',
  deleteResult: 'result',
  sendPollDeletion: 'session',
  revokeKey: 'key-id',
  sendKeyRevocation: 'key-id',
  sendKeyRotation: 'key-id',
  removeWebhookEndpoint: 'endpoint',
  sendEndpointRemoval: 'endpoint',
  removePanel: 'panel',
  redeemGrant: 'grant',
  loginCallback: 'state',
};

/** Those that end all that is of one kind. */
export const ENDS_ALL = new Set(['revokeAllKeys', 'rotateKeysByWallet', 'deleteAccount', 'deleteAccountByWallet']);

/** A repeated request with an Idempotency-Key has the same answer; what it is recognised by. */
export const REPEATED: Readonly<Record<string, RegExp>> = {
  createPoll: /EP-[\w-]+/,
  createSession: /ps_\w+/,
  streamPoll: /ps_\w+/,
  quickPoll: /EP-[\w-]+/,
  createChatCompletion: /chatcmpl-[\w-]+/,
  createBatch: /pb_\w+/,
};

/** A key that only reads cannot have these. */
export const SPENDS = new Set(['createPoll', 'createSession', 'streamPoll', 'createBatch', 'createChatCompletion']);

/** Afterwards the key that they name may open less, or nothing. */
export const CHANGES_KEY = new Set([
  'revokeKey',
  'sendKeyRevocation',
  'sendKeyRotation',
  'changeKey',
  'sendKeyChange',
  'revokeKeyByWallet',
]);

export const isDestructive = (operation: string): boolean =>
  operation in ENDED_BY || ENDS_ALL.has(operation) || CHANGES_KEY.has(operation) || operation === 'logout';
