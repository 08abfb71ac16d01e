import { element } from './draw.ts';
import { on } from './on.ts';

/** Shows a new key with a copy button. It is never shown again. */
export function showKey(place: HTMLElement, key: string, sentence: string): void {
  const field = element('input', { class: 'mono', readonly: true, value: key, 'aria-label': 'The new key' });
  const copy = element('button', { class: 'button secondary', type: 'button' }, 'Copy');
  on(copy, 'click', async () => {
    field.select();
    copy.textContent = await navigator.clipboard.writeText(key).then(
      () => 'Copied',
      () => 'Select and copy it',
    );
  });
  field.addEventListener('focus', () => field.select());
  place.replaceChildren(
    element(
      'div',
      { class: 'notice stack', 'data-tone': 'good' },
      element('p', { role: 'status' }, sentence),
      element('p', { class: 'inline-form' }, field, copy),
    ),
  );
  place.hidden = false;
  place.focus();
}
