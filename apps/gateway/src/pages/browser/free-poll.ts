import { freePollFields } from './free-poll-fields.ts';
import { holdAddress } from './hold-address.ts';
import { on } from './on.ts';
import { type PollView, pollView } from './poll-view.ts';
import { readEvents } from './read-events.ts';

// Runs a free poll in place and shows the votes as they arrive. Without this module, submitting the form opens the
// result page.

const form = document.querySelector<HTMLFormElement>('#free-poll');
const place = document.querySelector<HTMLElement>('#live-poll');

if (form && place) {
  const button = form.querySelector<HTMLButtonElement>('button[type="submit"]')!;
  const problem = form.querySelector<HTMLElement>('#free-poll-problem')!;
  const fields = freePollFields(form);

  const say = (sentence: string) => {
    problem.textContent = sentence;
    problem.hidden = false;
    problem.scrollIntoView({ block: 'nearest' });
  };

  on(form, 'submit', async (event) => {
    event.preventDefault();
    problem.hidden = true;
    const found = fields.problem();
    if (found) {
      say(found.says);
      fields.focus(found.field);
      return;
    }
    button.disabled = true;
    try {
      const { question, options } = fields.read();
      const filled = options.filter((option) => option.trim() !== '');
      const sentence = await run({ question, options: filled, ...extrasOf(form) }, form, place);
      if (sentence !== null) say(sentence);
    } finally {
      button.disabled = false;
    }
  });
}

function extrasOf(form: HTMLFormElement): object {
  const sent = new FormData(form);
  return {
    ...(sent.has('search') && { theme: 'free_search' }),
    ...(sent.has('reasons') && { reasons: true }),
  };
}

/** Resolves to an error message if the poll could not start; later errors are shown in the view. */
async function run(poll: object, form: HTMLFormElement, place: HTMLElement): Promise<string | null> {
  const response = await post(poll).catch(() => null);
  if (response === null) return 'The service cannot be reached. Try again in a moment.';
  if (!response.ok || !response.body) return errorOf(response);
  const view = pollView(place, { isFree: true, onAddress: holdAddress, onEdit: () => edit(form, place) });
  // The poll takes the form's place, so that the verdict is where the reader looks.
  form.hidden = true;
  place.scrollIntoView({ block: 'nearest' });
  place.querySelector<HTMLElement>('.headline')?.focus({ preventScroll: true });
  await follow(response.body, view);
  return null;
}

async function follow(body: ReadableStream<Uint8Array>, view: PollView): Promise<void> {
  try {
    for await (const { kind, data } of readEvents(body)) {
      if (kind === 'started') view.update(data);
      else if (kind === 'complete') view.ended(data);
      else if (kind === 'error') view.failed((data as { error: string }).error);
      if (kind !== 'started') return;
    }
  } catch {
    // The connection broke in the middle of an event.
  }
  view.failed('Connection lost. The poll is still running; reload to follow it.');
}

function edit(form: HTMLFormElement, place: HTMLElement): void {
  place.hidden = true;
  form.hidden = false;
  form.querySelector('textarea')?.focus();
}

const post = (body: object): Promise<Response> =>
  fetch('/api/quick-poll', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });

async function errorOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const sentence = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : '';
  return sentence || `The service answered ${response.status}.`;
}
