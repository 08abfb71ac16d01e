// Shows times in the reader's time zone and language; the tooltip shows UTC.

const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'long' });
const MINUTE_S = 60;
const HOUR_S = 3_600;

export function showLocalTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-local]')) localize(time);
}

function localize(time: HTMLTimeElement): void {
  const date = new Date(time.dateTime);
  if (!time.title) time.title = time.textContent ?? '';
  const seconds = Math.round((Date.now() - date.getTime()) / 1_000);
  const isRecent = seconds >= 0 && seconds < 12 * HOUR_S;
  // For a time in the near future, the date alone would say too little.
  const isSoon = seconds < 0 && seconds > -48 * HOUR_S;
  if (time.dataset.local === 'short' && !isSoon) {
    time.textContent = isRecent ? agoText(seconds) : date.toLocaleDateString(undefined, { dateStyle: 'medium' });
    return;
  }
  const local = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  time.textContent = isRecent ? `${agoText(seconds)}, ${local}` : local;
}

function agoText(seconds: number): string {
  if (seconds < MINUTE_S) return AGO.format(-seconds, 'second');
  return seconds < HOUR_S
    ? AGO.format(-Math.floor(seconds / MINUTE_S), 'minute')
    : AGO.format(-Math.floor(seconds / HOUR_S), 'hour');
}

showLocalTimes();
