import type { ThingKind } from './remembered.ts';

// Facts about operations for the rules: the thing named in the path, what they end, and how repetitions are recognized.

/** Operations on a thing named in the path: 404 for other accounts, and for the owner once it is gone. */
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

/** Open to anyone with the id, until the result is gone. */
export const PUBLIC_THINGS: Readonly<Record<string, ThingKind>> = {
  getResult: 'result',
  getMermaid: 'result',
  getResultPage: 'result',
};

/** Operations that, if they succeed, end what their path or body names. */
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

/** Operations that end everything of one kind. */
export const ENDS_ALL = new Set(['revokeAllKeys', 'rotateKeysByWallet', 'deleteAccount', 'deleteAccountByWallet']);

/** A repeated request with an Idempotency-Key has the same answer; the pattern finds the id that must be equal. */
export const REPEATED: Readonly<Record<string, RegExp>> = {
  createPoll: /EP-[\w-]+/,
  createSession: /ps_\w+/,
  streamPoll: /ps_\w+/,
  quickPoll: /EP-[\w-]+/,
  createChatCompletion: /chatcmpl-[\w-]+/,
  createBatch: /pb_\w+/,
};

/** Operations that a read-only key may not use. */
export const SPENDS = new Set(['createPoll', 'createSession', 'streamPoll', 'createBatch', 'createChatCompletion']);

/** After these, the key that they name may have fewer rights, or none. */
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
