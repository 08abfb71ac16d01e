import { ask, sentenceOf } from './ask.ts';
import { element } from './draw.ts';
import { fillFromAddress } from './fill-from-address.ts';
import { holdAddress } from './hold-address.ts';
import { on } from './on.ts';
import { pollView } from './poll-view.ts';
import { readEvents } from './read-events.ts';
import { refresh } from './refresh.ts';

// A poll that is paid from the balance: what it will take while it is written, and how it goes while it runs.

const QUIET_MS = 350;

export function runPollForm(): void {
  const form = document.querySelector<HTMLFormElement>('[data-run]')!;
  const estimate = form.querySelector<HTMLElement>('[data-estimate]')!;
  const place = document.querySelector<HTMLElement>('[data-progress]')!;
  const button = form.querySelector<HTMLButtonElement>('[data-needs-script]')!;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;

  if (fillFromAddress(form)) setTimeout(() => form.dispatchEvent(new Event('input')));
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const mine = ++asked;
      const shown = await estimateOf(orderOf(form));
      // A later one may have been faster.
      if (mine === asked) estimate.replaceChildren(...shown);
    }, QUIET_MS);
  });

  on(form, 'submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    const problem = await run(orderOf(form), place);
    if (problem !== null) estimate.replaceChildren(element('p', { class: 'field-error', role: 'alert' }, problem));
    button.disabled = false;
    await refresh('balance', 'history');
  });
}

function orderOf(form: HTMLFormElement) {
  const fields = new FormData(form);
  const lines = String(fields.get('options')).split(/\r?\n/);
  return {
    question: String(fields.get('question')).trim(),
    options: lines.map((line) => line.trim()).filter((line) => line !== ''),
    preset: String(fields.get('preset')),
    confidence_threshold: Number(fields.get('confidence_threshold')),
    max_cost_usd: Number(fields.get('max_cost_usd')),
  };
}

type Order = ReturnType<typeof orderOf>;

interface Estimates {
  cost_usd?: { expected: number; max: number };
  latency_ms?: { p50: number };
  models?: { expected_calls: number; roster_size: number };
  balance_sufficient?: boolean;
  within_budget?: boolean;
}

/** The service judges the poll as it will when it runs; no model is asked. */
async function estimateOf(order: Order): Promise<Node[]> {
  const answer = await ask('POST', '/api/poll', { ...order, dry_run: true });
  if (!answer.ok) return [element('p', { class: 'field-error' }, sentenceOf(answer))];
  const errors = answer.body.errors as string[];
  const { cost_usd, latency_ms, models, balance_sufficient, within_budget } = answer.body.estimates as Estimates;
  const said: Node[] = errors.map((error) => element('p', { class: 'hint' }, error));
  if (cost_usd && latency_ms && models) {
    const facts = [
      ['Expected', usd(cost_usd.expected)],
      ['At most', usd(cost_usd.max)],
      ['Models', `about ${Math.round(models.expected_calls)} of ${models.roster_size}`],
      ['Time', `about ${(latency_ms.p50 / 1_000).toFixed(1)} s`],
    ];
    said.push(
      element(
        'dl',
        { class: 'figures' },
        ...facts.map(([name, value]) => element('div', {}, element('dt', {}, name!), element('dd', {}, value!))),
      ),
    );
  }
  if (balance_sufficient === false)
    said.push(element('p', { class: 'field-error' }, 'The balance does not cover the worst case of this poll.'));
  if (within_budget === false)
    said.push(
      element('p', { class: 'hint' }, 'The limit may end this poll before every model that it wants was asked.'),
    );
  return said;
}

const usd = (amount: number): string => `$${Number(amount.toPrecision(2))}`;

const MAX_TRIES = 5;
const PAUSE_MS = 1_000;

/** Resolves to an error message if the poll could not start; later errors show in the view. */
async function run(order: Order, place: HTMLElement): Promise<string | null> {
  const key = crypto.randomUUID();
  let view: ReturnType<typeof pollView> | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const response = await post(order, key).catch(() => null);
    if (response && (!response.ok || !response.body)) {
      const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
      return sentenceOf({ status: response.status, body });
    }
    if (response?.body) {
      view ??= pollView(place, { onAddress: holdAddress });
      if (await follow(response.body, view)) return null;
    }
    // The poll goes on; the same key leads back to it and pays nothing.
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

/** Whether the end was heard. */
async function follow(body: ReadableStream<Uint8Array>, view: ReturnType<typeof pollView>): Promise<boolean> {
  try {
    for await (const { kind, data } of readEvents(body)) {
      if (kind === 'started') view.update(data);
      else if (kind === 'complete') view.ended(data);
      else if (kind === 'error') view.failed((data as { error: string }).error);
      if (kind !== 'started') return true;
    }
  } catch {
    // Cut off in the middle of an event.
  }
  return false;
}
