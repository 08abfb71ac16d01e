import { showLocalTimes } from './local-time.ts';

/** While a poll runs the address is the poll's. */
const PAGE = location.pathname + location.search;

/** Parts as they came last, before times were made local in them. */
const taken = new Map<string, string>();

/**
 * Takes parts of this page anew from the server, which is the only one to write them. Their buttons come alive again, and
 * what has the focus keeps it.
 */
export async function refresh(...ids: string[]): Promise<void> {
  const response = await fetch(PAGE).catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  const restores: (() => void)[] = [];
  for (const id of ids) {
    const [old, made] = [document.getElementById(id), fresh.getElementById(id)];
    if (!old || !made || taken.get(id) === made.outerHTML) continue;
    taken.set(id, made.outerHTML);
    const scrolled = scrolledIn(old);
    const focused = focusedIn(old);
    old.replaceWith(made);
    restores.push(() => {
      for (const { name, left } of scrolled) for (const region of regionsOf(made, name)) region.scrollLeft = left;
      focused?.(made)?.focus({ preventScroll: true });
    });
  }
  // A button that is switched off cannot have the focus.
  enliven();
  for (const restore of restores) restore();
}

/** What does nothing without scripts is switched off until they are here. */
export function enliven(): void {
  showLocalTimes();
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-needs-script]')) button.disabled = false;
}

/** Finds the control that has the focus in the part that takes the place of this one, by what it does. */
function focusedIn(part: Element): ((made: Element) => HTMLElement | undefined) | null {
  const control = document.activeElement;
  if (!(control instanceof HTMLElement) || !part.contains(control)) return null;
  const does = whatItDoes(control);
  const alike = (within: Element) =>
    [...within.querySelectorAll<HTMLElement>(control.localName)].filter((other) => whatItDoes(other) === does);
  const place = alike(part).indexOf(control);
  return (made) => alike(made)[place];
}

/** Never by its place alone: where a row has gone another one's button is there. */
const whatItDoes = (control: Element): string =>
  JSON.stringify([
    ...['href', 'name', 'value', 'aria-label'].map((name) => control.getAttribute(name)),
    control.closest('form')?.getAttribute('action'),
  ]);

const regionsOf = (part: Element, name: string | null): Element[] =>
  [...part.querySelectorAll('.scroll')].filter((region) => region.getAttribute('aria-label') === name);

const scrolledIn = (part: Element): { name: string | null; left: number }[] =>
  [...part.querySelectorAll('.scroll')]
    .filter(({ scrollLeft }) => scrollLeft > 0)
    .map((region) => ({ name: region.getAttribute('aria-label'), left: region.scrollLeft }));
