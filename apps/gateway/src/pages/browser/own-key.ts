// Puts a pasted key into all samples and links of this page instead of the placeholder. It is never stored or sent.

const PLACEHOLDER = 'YOUR_API_KEY';
const KEY = /^ep_k_[A-Za-z0-9_-]{8,100}$/;

const place = document.querySelector<HTMLElement>('#own-key');
const field = document.querySelector<HTMLInputElement>('#own-key-field');

/** Empty if no key was pasted. */
export const pastedKey = (): string => (field && KEY.test(field.value.trim()) ? field.value.trim() : '');

if (place && field) {
  const samples = [...document.querySelectorAll<HTMLElement>('pre code')].map((sample) => ({
    sample,
    text: sample.textContent ?? '',
  }));
  const links = [...document.querySelectorAll<HTMLAnchorElement>('a[data-config]')];
  const note = document.querySelector<HTMLElement>('#own-key-note');
  const usual = [...(note?.childNodes ?? [])];
  place.hidden = !samples.some(({ text }) => text.includes(PLACEHOLDER));

  field.addEventListener('input', () => {
    const key = pastedKey();
    const isWrong = key === '' && field.value.trim() !== '';
    field.setAttribute('aria-invalid', String(isWrong));
    note?.replaceChildren(...(isWrong ? ['This is no API key: they begin with ep_k_.'] : usual));
    const filled = (text: string) => (key === '' ? text : text.replaceAll(PLACEHOLDER, key));
    for (const { sample, text } of samples) if (text.includes(PLACEHOLDER)) sample.textContent = filled(text);
    for (const link of links) {
      const { address = '', config = '', encoding } = link.dataset;
      const text = filled(config);
      link.href = address + encodeURIComponent(encoding === 'base64' ? btoa(text) : text);
    }
  });
}
