export { messageData } from './message-data.ts';
export { type ReceiverRules, receiverRules, urlProblem } from './receiver-rules.ts';
export { type NameResolver, systemResolver } from './resolve-receiver.ts';
export { MAX_TRIES, retryMs } from './retry-schedule.ts';
export { openSecretBox, type SecretBox } from './sealed-secrets.ts';
export { type Message, type MessageSender, messageSender, SEND_TIMEOUT_MS, type SendOutcome } from './send-message.ts';
export { newWebhookSecret, signedHeaders } from './signature.ts';
