import { sentenceOf } from './ask.ts';
import { element } from './draw.ts';
import { fillFromAddress } from './fill-from-address.ts';
import { holdAddress } from './hold-address.ts';
import { on } from './on.ts';
import { panelOfChoice } from './panel-choice.ts';
import { estimateOrder, type Order } from './poll-estimate.ts';
import { pollView } from './poll-view.ts';
import { readEvents } from './read-events.ts';
import { refresh } from './refresh.ts';

// A poll paid from the balance: shows its estimated cost while the form is filled in, and its progress while it runs.

const QUIET_MS = 350;

export function runPollForm(): void {
  const form = document.querySelector<HTMLFormElement>('[data-run]')!;
  const estimate = form.querySelector<HTMLElement>('[data-estimate]')!;
  const place = document.querySelector<HTMLElement>('[data-progress]')!;
  const button = form.querySelector<HTMLButtonElement>('[data-needs-script]')!;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;

  /** Resolves to whether the poll in the form can be run. */
  async function look(): Promise<boolean> {
    const mine = ++asked;
    const found = await estimateOrder(orderOf(form));
    // A newer estimate was requested meanwhile; this answer is out of date.
    if (mine !== asked) return false;
    estimate.replaceChildren(...found.said);
    markFields(form, found.wrongFields);
    button.disabled = found.buysNoVote;
    return found.wrongFields.length === 0 && !found.buysNoVote;
  }

  if (fillFromAddress(form)) setTimeout(() => form.dispatchEvent(new Event('input')));
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, QUIET_MS);
  });

  on(form, 'submit', async (event) => {
    event.preventDefault();
    clearTimeout(timer);
    if (!(await look())) return goToMistake(form);
    button.disabled = true;
    const problem = await run(orderOf(form), place);
    if (problem !== null) estimate.replaceChildren(element('p', { class: 'field-error', role: 'alert' }, problem));
    button.disabled = false;
    await refresh('balance', 'history');
  });
}

function orderOf(form: HTMLFormElement): Order {
  const fields = new FormData(form);
  const lines = String(fields.get('options')).split(/\r?\n/);
  return {
    question: String(fields.get('question')).trim(),
    options: lines.map((line) => line.trim()).filter((line) => line !== ''),
    ...panelOfChoice(String(fields.get('preset'))),
    confidence_threshold: numberIn(fields, 'confidence_threshold'),
    max_cost_usd: numberIn(fields, 'max_cost_usd'),
    ...(fields.has('search') && { theme: 'search' }),
    ...(fields.has('reasons') && { reasons: true }),
  };
}

/** NaN for an empty field or one with a mistake: it is sent as null, which is refused. 0 would be a valid threshold. */
function numberIn(fields: FormData, name: string): number {
  const text = fields.get(name);
  return text ? Number(text) : Number.NaN;
}

/** Marks the fields with these names and clears the mark on all others. */
function markFields(form: HTMLFormElement, names: readonly string[]): void {
  for (const field of form.querySelectorAll('[name]')) {
    if (names.includes(field.getAttribute('name')!)) field.setAttribute('aria-invalid', 'true');
    else field.removeAttribute('aria-invalid');
  }
}

/** Scrolls to the first invalid field and focuses it. */
function goToMistake(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"]');
  field?.scrollIntoView({ block: 'nearest' });
  field?.focus({ preventScroll: true });
}

const MAX_TRIES = 5;
const PAUSE_MS = 1_000;

/**
 * The last order, until its poll has ended here. The same order sent again has the same key: whatever was answered, an
 * earlier try may have made a poll, which it then gets.
 */
let unsettled: { order: string; key: string } | null = null;

/** Resolves to an error message if the poll could not start; later errors are shown in the view. */
async function run(order: Order, place: HTMLElement): Promise<string | null> {
  const text = JSON.stringify(order);
  if (unsettled?.order !== text) unsettled = { order: text, key: crypto.randomUUID() };
  const { key } = unsettled;
  let view: ReturnType<typeof pollView> | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const response = await post(order, key).catch(() => null);
    if (response && (!response.ok || !response.body)) {
      const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
      return sentenceOf({ status: response.status, body });
    }
    if (response?.body) {
      view ??= pollView(place, { onAddress: holdAddress });
      if (await follow(response.body, view)) {
        unsettled = null;
        return null;
      }
    }
    // The poll keeps running; a retry with the same idempotency key returns it and costs nothing.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const lost = 'The connection was lost. If the poll began it goes on, and its result will be in the history.';
  if (!view) return lost;
  view.failed(lost);
  return null;
}

const post = (order: Order, key: string): Promise<Response> =>
  fetch('/api/poll', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'idempotency-key': key },
    body: JSON.stringify(order),
  });

/** Resolves to whether the final event was received. */
async function follow(body: ReadableStream<Uint8Array>, view: ReturnType<typeof pollView>): Promise<boolean> {
  try {
    for await (const { kind, data } of readEvents(body)) {
      if (kind === 'started') view.update(data);
      else if (kind === 'complete') view.ended(data);
      else if (kind === 'error') view.failed((data as { error: string }).error);
      if (kind !== 'started') return true;
    }
  } catch {
    // The connection broke in the middle of an event.
  }
  return false;
}
