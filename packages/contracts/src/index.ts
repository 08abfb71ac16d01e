export * from './error-body.ts';
export * from './errors.ts';
export * from './poll.ts';
export * from './poll-response.ts';
export * from './progress.ts';
export * from './vote-result.ts';
