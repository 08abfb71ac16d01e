import { readFileSync } from 'node:fs';

/** How busy the whole machine has been since the last call, from 0 to 1, including other programs. */
export function machineBusy(): () => number {
  let before = read();
  return () => {
    const now = read();
    const busy = 1 - (now.idle - before.idle) / Math.max(1, now.all - before.all);
    before = now;
    return busy;
  };
}

function read(): { idle: number; all: number } {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { idle: ticks[3]! + ticks[4]!, all: ticks.reduce((sum, n) => sum + n, 0) };
  } catch {
    return { idle: 0, all: 0 };
  }
}
