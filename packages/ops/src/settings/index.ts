export * from './readers.ts';
export { refuseClearText, SHARED_SETTINGS } from './shared-table.ts';
export * from './table.ts';
export { type WebhookSettings, webhookSettings } from './webhook-settings.ts';
