export { type Bus, type BusOptions, openBus } from './bus.ts';
export { mastersOf, producer } from './connections.ts';
export { JOB_LOCK_MS, type PollConsumer } from './consume-queue.ts';
export { eachSlot } from './each-slot.ts';
export type { Backlog, Enqueued, EnqueueOptions, QueueCounts } from './poll-queue.ts';
export type { OnNews, Watch } from './progress-channels.ts';
export { STORED_KINDS, type StoredKind } from './read-stored.ts';
export type { Brief } from './run-brief.ts';
export type { RunRecord, RunState } from './run-record.ts';
