import { namedModelsLabel } from './panel-choice.ts';

const KEY = 'eloquentpoll.fields';

/** Called before a login, because the login returns to the dashboard without the fields in the address. */
export function keepFields(): void {
  if (isFilling(new URLSearchParams(location.search))) sessionStorage.setItem(KEY, location.search);
}

const isFilling = (query: URLSearchParams): boolean => query.has('question') || query.has('again');

function keptFields(): string {
  const kept = sessionStorage.getItem(KEY) ?? '';
  sessionStorage.removeItem(KEY);
  return kept;
}

/** With `again`, the service has filled in that poll, and the address has only the fields to change. */
export function fillFromAddress(form: HTMLFormElement): boolean {
  const kept = keptFields();
  const here = new URLSearchParams(location.search);
  const keptQuery = new URLSearchParams(kept);
  if (!isFilling(here) && keptQuery.has('again')) {
    location.replace(`/dashboard${kept}#run`);
    return false;
  }
  const query = isFilling(here) ? here : keptQuery;
  const values: [name: string, value: string | null][] = [
    ['question', query.get('question')],
    ['options', query.has('option') ? query.getAll('option').join('\n') : null],
    ['preset', query.get('preset')],
    ['confidence_threshold', query.get('threshold')],
    ['max_cost_usd', query.get('limit')],
  ];
  let filled = form.dataset.filled !== undefined;
  for (const [name, value] of values) {
    const field = form.elements.namedItem(name);
    if (value === null || !hasValue(field)) continue;
    const before = field.value;
    if (field instanceof HTMLSelectElement) offerNamedModels(field, value);
    field.value = value;
    // A select is empty after it was set to a value that it does not offer.
    if (field.value === '' && value !== '') field.value = before;
    filled = true;
  }
  return filled;
}

/** Models that were named one by one are offered as a choice for this poll only. */
function offerNamedModels(field: HTMLSelectElement, value: string): void {
  const label = namedModelsLabel(value);
  if (label !== null) field.add(new Option(label, value));
}

const hasValue = (field: unknown): field is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement =>
  field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement;
