import { refresh } from './refresh.ts';

// The page of a running batch: refreshes figures and close calls until it has ended, then its rows once more.

const EVERY_MS = 3_000;

const isRunning = (): boolean => document.querySelector('#progress[data-running]') !== null;

async function follow(): Promise<void> {
  if (!isRunning()) return;
  if (!document.hidden) await refresh('progress', 'close');
  if (!isRunning()) await refresh('rows');
  setTimeout(() => follow().catch(reportError), EVERY_MS);
}

setTimeout(() => follow().catch(reportError), EVERY_MS);
