/**
 * While a poll runs, the address bar shows the address of its result, so that reloading and sharing the link work.
 * Another poll from the same page adds a history entry, and going back loads the poll before it.
 */
export function holdAddress(url: string): void {
  const { pathname } = new URL(url);
  held = pathname;
  if (pathname === location.pathname) return;
  if (location.pathname.startsWith('/result/')) {
    if (!listens) addEventListener('popstate', reloadOther);
    listens = true;
    history.pushState(null, '', pathname);
  } else {
    history.replaceState(null, '', pathname);
  }
}

let listens = false;
let held = '';

/** A link to a part of the same page fires this event too. */
function reloadOther(): void {
  if (location.pathname !== held) location.reload();
}
