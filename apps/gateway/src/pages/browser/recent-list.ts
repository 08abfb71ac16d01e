import { element } from './draw.ts';
import { forgetPolls, recentPolls } from './recent-polls.ts';

// The free polls of this device, in the playground.

const MAX_SHOWN = 6;

const section = document.querySelector<HTMLElement>('#recent');
const polls = recentPolls();

if (section && polls.length > 0) {
  section
    .querySelector('[data-list]')!
    .replaceChildren(
      ...polls
        .slice(0, MAX_SHOWN)
        .map(({ url, question, winner }) =>
          element(
            'li',
            {},
            element('a', { href: url, dir: 'auto' }, question),
            ...(winner ? [element('br'), element('span', { class: 'muted small', dir: 'auto' }, winner)] : []),
          ),
        ),
    );
  section.querySelector('[data-forget]')!.addEventListener('click', () => {
    forgetPolls();
    section.hidden = true;
  });
  section.hidden = false;
}
