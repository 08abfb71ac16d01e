import { ask, sentenceOf } from './ask.ts';
import { element } from './draw.ts';
import { showKey } from './key-note.ts';
import { on } from './on.ts';
import { enliven, refresh } from './refresh.ts';

// Keys are made, shown once, and revoked after a question, all on the page whose forms would lead away from it.

const section = document.querySelector<HTMLElement>('#keys')!;
const form = section.querySelector<HTMLFormElement>('[data-new-key]')!;
const shown = section.querySelector<HTMLElement>('[data-key-shown]')!;
const dialog = section.querySelector<HTMLDialogElement>('[data-revoke]')!;
let revoking = '';

on(form, 'submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button')!;
  button.disabled = true;
  const answer = await ask('POST', '/api/keys', { label: String(new FormData(form).get('label')) });
  button.disabled = false;
  if (!answer.ok) return complain(sentenceOf(answer));
  form.reset();
  showKey(shown, String(answer.body.key), 'This is your new key. Copy it now. You won’t see it again.');
  await refresh('key-list');
});

section.addEventListener('click', (event) => {
  const { target } = event;
  const button = target instanceof Element ? target.closest<HTMLButtonElement>('[data-key]') : null;
  if (!button) return;
  event.preventDefault();
  revoking = button.dataset.key!;
  dialog.querySelector('[data-key-name]')!.textContent = button.dataset.name ?? '';
  dialog.returnValue = 'keep';
  dialog.showModal();
});

on(dialog, 'close', async () => {
  if (dialog.returnValue !== 'revoke') return;
  const answer = await ask('DELETE', `/api/keys/${revoking}`);
  // One that is revoked already is what was wanted.
  if (!answer.ok && answer.status !== 404) return complain(sentenceOf(answer));
  shown.replaceChildren(element('p', { class: 'notice', role: 'status' }, 'The key is revoked.'));
  shown.hidden = false;
  await refresh('key-list');
  shown.focus();
});

function complain(sentence: string): void {
  shown.replaceChildren(element('p', { class: 'notice', 'data-tone': 'bad', role: 'alert' }, sentence));
  shown.hidden = false;
}

enliven();
