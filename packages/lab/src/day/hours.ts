import { type Chance, weighted } from '../terminal/chance.ts';
import * as agents from './activities/agents.ts';
import * as asking from './activities/asking.ts';
import * as batches from './activities/batches.ts';
import * as keys from './activities/keys.ts';
import * as money from './activities/money.ts';
import * as reading from './activities/reading.ts';
import * as sessions from './activities/sessions.ts';
import type { Activity } from './world.ts';

// The shape of a day: how busy each part of it is, and what people do then.

export interface Hours {
  readonly name: string;
  /** Share of the whole day. */
  readonly share: number;
  /** Relative to the target load of the day. */
  readonly load: number;
  /** How much more likely batches are than at other times. */
  readonly batches: number;
}

export const HOURS: readonly Hours[] = [
  { name: 'night', share: 0.1, load: 0.5, batches: 1 },
  { name: 'morning', share: 0.15, load: 0.95, batches: 1 },
  { name: 'rush', share: 0.2, load: 1.3, batches: 0.5 },
  { name: 'noon', share: 0.15, load: 0.8, batches: 1 },
  { name: 'afternoon', share: 0.2, load: 1.15, batches: 1 },
  { name: 'evening batch', share: 0.2, load: 1, batches: 12 },
];

/** `share` is the time of day, from 0 to 1. */
export function hoursAt(share: number): Hours {
  let until = 0;
  for (const hours of HOURS) {
    until += hours.share;
    if (share < until) return hours;
  }
  return HOURS.at(-1)!;
}

interface Weighted {
  readonly activity: Activity;
  readonly weight: number;
  readonly isBatch?: true;
}

export const ACTIVITIES: readonly Weighted[] = [
  { activity: asking.askSync, weight: 14 },
  { activity: asking.askSyncLoggedIn, weight: 4 },
  { activity: asking.askTwice, weight: 2 },
  { activity: asking.askModels, weight: 4 },
  { activity: asking.askSavedPanel, weight: 3 },
  { activity: asking.askQuick, weight: 8 },
  { activity: asking.askFreeQuick, weight: 6 },
  { activity: asking.askByForm, weight: 2 },
  { activity: sessions.pollStatus, weight: 6 },
  { activity: sessions.waitForStatus, weight: 8 },
  { activity: sessions.followStreamed, weight: 8 },
  { activity: sessions.flexSession, weight: 2 },
  { activity: sessions.sessionWithWebhook, weight: 4 },
  { activity: sessions.cancelSession, weight: 2 },
  { activity: agents.askByMcp, weight: 6 },
  { activity: agents.askByA2a, weight: 4 },
  { activity: agents.askByChat, weight: 6 },
  { activity: agents.streamChat, weight: 3 },
  { activity: batches.batchAsJson, weight: 0.15, isBatch: true },
  { activity: batches.batchAsCsv, weight: 0.15, isBatch: true },
  { activity: batches.batchCanceled, weight: 0.05, isBatch: true },
  { activity: reading.openPage, weight: 6 },
  { activity: reading.openDashboard, weight: 6 },
  { activity: reading.readDocument, weight: 8 },
  { activity: reading.readLists, weight: 4 },
  { activity: reading.lookAtUsage, weight: 2 },
  { activity: reading.exportAll, weight: 0.2 },
  { activity: reading.readReceipt, weight: 3 },
  { activity: reading.giveFeedback, weight: 3 },
  { activity: reading.deleteResult, weight: 2 },
  { activity: money.topUp, weight: 0.6 },
  { activity: money.signUpAndDelete, weight: 0.4 },
  { activity: keys.spendKeyLimit, weight: 0.6 },
  { activity: keys.subscribe, weight: 0.6 },
];

export const anyActivity = ({ batches }: Hours, draw: Chance): Activity =>
  weighted(ACTIVITIES, ({ weight, isBatch }) => weight * (isBatch ? batches : 1), draw).activity;
