import { showLocalTimes } from './local-time.ts';

/** Read at load: while a poll runs, the address bar shows the poll's address instead. */
const PAGE = location.pathname + location.search;

/** Each part's HTML as last received, before its times were converted to local time. */
const taken = new Map<string, string>();

/**
 * Replaces parts of this page with fresh copies from the server, so that only the server renders them. Buttons are
 * enabled again, and the focus stays on the same control.
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
  // Must come before the focus is restored: a disabled button cannot be focused.
  enliven();
  for (const restore of restores) restore();
}

/** Enables the buttons that are rendered disabled because they need scripts. */
export function enliven(): void {
  showLocalTimes();
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-needs-script]')) button.disabled = false;
}

/** Returns a function that finds, in the replacement of this part, the control that had the focus. */
function focusedIn(part: Element): ((made: Element) => HTMLElement | undefined) | null {
  const control = document.activeElement;
  if (!(control instanceof HTMLElement) || !part.contains(control)) return null;
  const does = whatItDoes(control);
  const alike = (within: Element) =>
    [...within.querySelectorAll<HTMLElement>(control.localName)].filter((other) => whatItDoes(other) === does);
  const place = alike(part).indexOf(control);
  return (made) => alike(made)[place];
}

/**
 * What identifies a control. Position alone is not enough: after a row is removed, another row's button is in its
 * place.
 */
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
