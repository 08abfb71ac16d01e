import { funds } from './dashboard-funds.ts';
import { runPollForm } from './dashboard-run.ts';
import { recentPolls } from './recent-polls.ts';
import { enliven } from './refresh.ts';

// The scripts of the dashboard.

const LOOK_AGAIN_MS = 3_000;

runPollForm();
funds();
enliven();

// Only the browser remembers free polls.
const freeStep = document.querySelector('[data-free-step]');
if (freeStep && recentPolls().length > 0) {
  const steps = freeStep.closest('section')!;
  freeStep.remove();
  if (!steps.querySelector('li')) steps.remove();
}

const again = document.querySelector<HTMLAnchorElement>('[data-look-again]');
if (again) setTimeout(() => location.replace(again.href), LOOK_AGAIN_MS);
// The address that the payment processor returned to must not be reloaded or bookmarked.
else if (location.search.includes('checkout=')) history.replaceState(null, '', '/dashboard');
