import { sentenceOf } from './ask.ts';
import { element } from './draw.ts';
import { on } from './on.ts';

// The form of a batch: accepts dropped files, and has the service check every change. A check stores nothing.

const QUIET_MS = 500;

const form = document.querySelector<HTMLFormElement>('[data-batch]')!;
const rows = form.querySelector<HTMLTextAreaElement>('[name="rows"]')!;
const file = form.querySelector<HTMLInputElement>('[name="file"]')!;
const start = form.querySelector<HTMLButtonElement>('[data-start]')!;
const check = form.querySelector<HTMLButtonElement>('[data-check]')!;
const place = document.getElementById('check')!;
let timer: ReturnType<typeof setTimeout> | undefined;
let running: AbortController | undefined;

const hasRows = (): boolean => rows.value.trim() !== '' || (file.files?.length ?? 0) > 0;

/** Cancels a check that is scheduled and ignores the answer of a running one. */
function endCheck(): void {
  clearTimeout(timer);
  running?.abort();
  place.removeAttribute('aria-busy');
}

/** A newer check cancels the one before it. */
async function look(): Promise<void> {
  endCheck();
  if (!hasRows()) return place.replaceChildren();
  running = new AbortController();
  const { signal } = running;
  place.setAttribute('aria-busy', 'true');
  const answer = await send(check.formAction, signal);
  if (signal.aborted) return;
  place.removeAttribute('aria-busy');
  showCheck(answer, 'The rows could not be checked. You can still start the batch.');
}

interface Answer {
  status: number;
  /** The address of the redirect, if there was one. */
  movedTo: string | null;
  text: string;
}

async function send(action: string, signal?: AbortSignal): Promise<Answer> {
  try {
    const response = await fetch(action, { method: 'POST', body: new FormData(form), signal: signal ?? null });
    const { status, redirected, url } = response;
    // After a redirect, the body is not needed.
    return { status, movedTo: redirected ? url : null, text: redirected ? '' : await response.text() };
  } catch {
    return { status: 0, movedTo: null, text: '' };
  }
}

/** Shows the answer of a check; the form keeps its content, including the chosen file. */
function showCheck({ status, text }: Answer, otherwise: string): void {
  const found = new DOMParser().parseFromString(text, 'text/html').getElementById('check');
  const refusals: Record<number, string> = { 401: 'authentication_required', 429: 'rate_limited' };
  if (found && found.childElementCount > 0) {
    found.querySelector('[data-without-script]')?.remove();
    place.replaceChildren(...found.childNodes);
    return;
  }
  const code = refusals[status];
  const sentence = code ? sentenceOf({ status, body: { code } }) : otherwise;
  place.replaceChildren(element('p', { class: 'field-error', role: 'alert' }, sentence));
}

/** A changed name needs no check; changed rows, file or terms do. */
form.addEventListener('input', ({ target }) => {
  const name = target instanceof Element ? target.getAttribute('name') : null;
  if (name === 'metadata[name]') return;
  clearTimeout(timer);
  // A file is not uploaded again for every changed term, only when the user presses the button.
  const isTerm = name !== null && name !== 'rows' && name !== 'file';
  if (isTerm && (file.files?.length ?? 0) > 0) {
    endCheck();
    place.replaceChildren(element('p', { class: 'muted small' }, 'Check again to see what these terms come to.'));
    return;
  }
  timer = setTimeout(() => look().catch(reportError), QUIET_MS);
});

on(check, 'click', async (event) => {
  event.preventDefault();
  await look();
});

on(form, 'submit', async (event) => {
  event.preventDefault();
  endCheck();
  start.disabled = true;
  const answer = await send(form.action);
  start.disabled = false;
  if (answer.movedTo) return location.assign(answer.movedTo);
  showCheck(answer, 'The service cannot be reached. Try again: the same form starts one batch.');
});

form.addEventListener('dragover', (event) => {
  event.preventDefault();
  form.dataset.over = '';
});
for (const end of ['dragleave', 'drop'] as const) form.addEventListener(end, () => delete form.dataset.over);
form.addEventListener('drop', (event) => {
  const dropped = event.dataTransfer?.files;
  if (!dropped?.length) return;
  event.preventDefault();
  file.files = dropped;
  form.dispatchEvent(new Event('input'));
});
