import { draw } from './draw.ts';
import { oddsChart } from './odds-chart.ts';
import { receivedAt } from './odds-scale.ts';
import type { PollPicture } from './poll-picture.ts';

/** The odds chart in its own element, where pointer, touch and arrow keys step through the votes. */
export function oddsView(place: HTMLElement): { show(picture: PollPicture): void } {
  let picture: PollPicture | null = null;
  let cursor: number | null = null;

  function redraw(): void {
    const chart = picture && oddsChart(picture, cursor);
    draw(place, chart ? [chart] : []);
  }

  function move(received: number | null): void {
    if (received === cursor || !picture) return;
    const [first, last] = [picture.odds[0]?.received ?? 0, picture.odds.at(-1)?.received ?? 0];
    cursor = received === null ? null : Math.min(last, Math.max(first, received));
    redraw();
  }

  function point({ target, clientX }: PointerEvent): void {
    const lines = target instanceof Element ? target.closest('.odds-plot')?.querySelector('.lines') : null;
    if (!lines || !picture) return;
    const { left, width } = lines.getBoundingClientRect();
    move(receivedAt((clientX - left) / width, picture.panelSize));
  }

  place.addEventListener('pointermove', point);
  place.addEventListener('pointerdown', point);
  place.addEventListener('pointerleave', ({ pointerType }) => {
    if (pointerType === 'mouse') move(null);
  });
  place.addEventListener('focusout', () => move(null));
  place.addEventListener('keydown', (event) => {
    if (!(event.target instanceof Element && event.target.matches('.odds-plot')) || !picture) return;
    const last = picture.odds.at(-1)?.received ?? 0;
    const to = {
      ArrowLeft: (cursor ?? last + 1) - 1,
      ArrowRight: (cursor ?? -1) + 1,
      Home: 0,
      End: last,
      Escape: null,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  });

  return {
    show(next) {
      picture = next;
      redraw();
    },
  };
}
