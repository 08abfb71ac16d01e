export * from './readers.ts';
export { SHARED_SETTINGS } from './shared-table.ts';
export * from './table.ts';
