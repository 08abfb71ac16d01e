import { element } from './draw.ts';
import { on } from './on.ts';

// The form of a batch: what is dropped on it is its file, and every change is checked by the service, which stores nothing.

const QUIET_MS = 500;

const form = document.querySelector<HTMLFormElement>('[data-batch]')!;
const rows = form.querySelector<HTMLTextAreaElement>('[name="rows"]')!;
const file = form.querySelector<HTMLInputElement>('[name="file"]')!;
const check = form.querySelector<HTMLButtonElement>('[data-check]')!;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

const hasRows = (): boolean => rows.value.trim() !== '' || (file.files?.length ?? 0) > 0;

async function look(): Promise<void> {
  const mine = ++asked;
  const place = document.getElementById('check')!;
  if (!hasRows()) return place.replaceChildren();
  place.setAttribute('aria-busy', 'true');
  const response = await fetch(check.formAction, { method: 'POST', body: new FormData(form) }).catch(() => null);
  const text = response ? await response.text().catch(() => '') : '';
  // A later one may have been faster.
  if (mine !== asked) return;
  place.removeAttribute('aria-busy');
  const found = new DOMParser().parseFromString(text, 'text/html').getElementById('check');
  if (!found) {
    place.replaceChildren(
      element(
        'p',
        { class: 'field-error', role: 'alert' },
        'The rows could not be checked. You can still start the batch.',
      ),
    );
    return;
  }
  // The file stays chosen.
  found.querySelector('[data-without-script]')?.remove();
  place.replaceChildren(...found.childNodes);
}

form.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(() => look().catch(reportError), QUIET_MS);
});

on(check, 'click', async (event) => {
  event.preventDefault();
  clearTimeout(timer);
  await look();
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
