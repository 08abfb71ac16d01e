import { funds } from './dashboard-funds.ts';
import { keys } from './dashboard-keys.ts';
import { runPollForm } from './dashboard-run.ts';
import { enliven } from './refresh.ts';

// What the dashboard does beyond being read.

const LOOK_AGAIN_MS = 3_000;

runPollForm();
funds();
keys();
enliven();

const again = document.querySelector<HTMLAnchorElement>('[data-look-again]');
if (again) setTimeout(() => location.replace(again.href), LOOK_AGAIN_MS);
// The address of a return is not for reloading or keeping.
else if (location.search.includes('checkout=')) history.replaceState(null, '', '/dashboard');
