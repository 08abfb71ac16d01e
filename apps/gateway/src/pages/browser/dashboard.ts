import { funds } from './dashboard-funds.ts';
import { runPollForm } from './dashboard-run.ts';
import { recentPolls } from './recent-polls.ts';
import { enliven } from './refresh.ts';

// What the dashboard does beyond being read.

const LOOK_AGAIN_MS = 3_000;

runPollForm();
funds();
enliven();

// Free polls are remembered in the browser alone.
const freeStep = document.querySelector('[data-free-step]');
if (freeStep && recentPolls().length > 0) {
  const steps = freeStep.closest('section')!;
  freeStep.remove();
  if (!steps.querySelector('li')) steps.remove();
}

const again = document.querySelector<HTMLAnchorElement>('[data-look-again]');
if (again) setTimeout(() => location.replace(again.href), LOOK_AGAIN_MS);
// The address of a return is not for reloading or keeping.
else if (location.search.includes('checkout=')) history.replaceState(null, '', '/dashboard');
