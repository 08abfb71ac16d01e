import { element } from './draw.ts';
import { type PollView, pollView } from './poll-view.ts';

// The page of a running poll: follows the poll and then becomes its result page. The server's rendering stays until the
// first event arrives.

const place = document.querySelector<HTMLElement>('[data-watch]');

if (place) {
  const events = new EventSource(place.dataset.watch!);
  let view: PollView | null = null;

  const fail = (sentence: string) => {
    if (view) view.failed(sentence);
    else place.append(element('p', { class: 'field-error', role: 'alert' }, sentence));
  };
  events.addEventListener('started', ({ data }: MessageEvent<string>) => {
    view ??= pollView(place);
    view.update(JSON.parse(data));
  });
  events.addEventListener('complete', () => {
    events.close();
    location.reload();
  });
  events.addEventListener('error', (event) => {
    // Error events from the service have data; for a lost connection there is none, and the browser reconnects.
    if (event instanceof MessageEvent) {
      events.close();
      fail((JSON.parse(String(event.data)) as { error: string }).error);
    } else if (events.readyState === EventSource.CLOSED) {
      fail('Connection lost. The poll is still running; reload to follow it.');
    }
  });
}
