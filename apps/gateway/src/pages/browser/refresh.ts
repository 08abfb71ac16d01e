import { showLocalTimes } from './local-time.ts';

/** While a poll runs the address is the poll's. */
const PAGE = location.pathname + location.search;

/** Takes parts of this page anew from the server, which is the only one to write them. Their buttons come alive again. */
export async function refresh(...ids: string[]): Promise<void> {
  const response = await fetch(PAGE).catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const id of ids) {
    const [old, made] = [document.getElementById(id), fresh.getElementById(id)];
    if (old && made) old.replaceWith(made);
  }
  enliven();
}

/** What does nothing without scripts is switched off until they are here. */
export function enliven(): void {
  showLocalTimes();
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-needs-script]')) button.disabled = false;
}
