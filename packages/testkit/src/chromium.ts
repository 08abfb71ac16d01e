import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome-headless-shell'];
const IN_MACOS = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** The program for page tests: the one in CHROMIUM_PATH, or one that this machine has; null if there is none. */
export function findChromium({ CHROMIUM_PATH, PATH = '' }: NodeJS.ProcessEnv): string | null {
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  const folders = PATH.split(delimiter).filter(Boolean);
  const candidates = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...IN_MACOS];
  return candidates.find((file) => existsSync(file)) ?? null;
}
