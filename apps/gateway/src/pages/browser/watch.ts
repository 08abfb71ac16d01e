import { pollView } from './poll-view.ts';

// The page of a poll that runs: follows it to its end, and then is the page of its result.

const place = document.querySelector<HTMLElement>('[data-watch]');

if (place) {
  const events = new EventSource(place.dataset.watch!);
  const view = pollView(place);
  events.addEventListener('started', ({ data }: MessageEvent<string>) => view.update(JSON.parse(data)));
  events.addEventListener('complete', () => {
    events.close();
    location.reload();
  });
  events.addEventListener('error', (event) => {
    // The service's own event has data. A connection that was lost is tried again by the browser.
    if (event instanceof MessageEvent) {
      events.close();
      view.failed((JSON.parse(String(event.data)) as { error: string }).error);
    } else if (events.readyState === EventSource.CLOSED) {
      view.failed('Connection lost. The poll is still running; reload to follow it.');
    }
  });
}
