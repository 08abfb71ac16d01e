/**
 * A poll is at the address of its result while it runs: reloading, coming back and passing the link on lead to it. Another
 * poll from the same page is a step further, and going back loads the one before.
 */
export function holdAddress(url: string): void {
  const { pathname } = new URL(url);
  if (pathname === location.pathname) return;
  if (location.pathname.startsWith('/result/')) {
    if (!listens) addEventListener('popstate', () => location.reload());
    listens = true;
    history.pushState(null, '', pathname);
  } else {
    history.replaceState(null, '', pathname);
  }
}

let listens = false;
