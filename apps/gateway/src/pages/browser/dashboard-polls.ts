import { enliven, refresh } from './refresh.ts';

// The history page: refreshes running polls until none is left, one box checks all rows, and `/` focuses the search.

const EVERY_MS = 2_500;

const runningCount = (): number => document.querySelectorAll('#running tbody tr').length;
const isChosen = (): boolean => document.querySelector('#history [name="id"]:checked') !== null;

async function follow(): Promise<void> {
  const before = runningCount();
  if (before === 0) return;
  if (!document.hidden) await refresh('running');
  // Not while boxes are checked: a refresh of the history would clear them.
  if (runningCount() < before && !isChosen()) {
    await refresh('history');
    showCheckAll();
  }
  setTimeout(() => follow().catch(reportError), EVERY_MS);
}

function showCheckAll(): void {
  const box = document.querySelector<HTMLInputElement>('[data-check-all]');
  if (box) box.hidden = false;
}

setTimeout(() => follow().catch(reportError), EVERY_MS);

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.matches('[data-check-all]')) return;
  for (const box of document.querySelectorAll<HTMLInputElement>('#history [name="id"]')) box.checked = target.checked;
});

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target instanceof HTMLElement && target.matches('input, textarea, select')) return;
  event.preventDefault();
  document.querySelector<HTMLInputElement>('[data-search]')?.focus();
});

enliven();
showCheckAll();
