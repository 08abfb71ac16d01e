// Runs on every page: copy buttons, tabs, and menus scrolled to the current entry. Pages can be read without it.

for (const menu of document.querySelectorAll<HTMLElement>('.site-nav, .dashboard-tabs')) {
  const here = menu.querySelector<HTMLElement>('[aria-current]');
  if (here) menu.scrollLeft = here.offsetLeft - menu.offsetLeft - (menu.clientWidth - here.offsetWidth) / 2;
}

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
  const source = button.parentElement?.querySelector('pre, input, output');
  if (!source || !('clipboard' in navigator)) continue;
  button.hidden = false;
  const before = [...button.childNodes];
  const say = (text: string) => {
    button.replaceChildren(text);
    setTimeout(() => button.replaceChildren(...before), 1_500);
  };
  button.addEventListener('click', () => {
    const text = source instanceof HTMLInputElement ? source.value : (source.textContent ?? '');
    navigator.clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('Not copied'),
    );
  });
}

for (const group of document.querySelectorAll<HTMLElement>('[data-tabs]')) {
  const panels = [...group.querySelectorAll<HTMLElement>(':scope > section')];
  const list = document.createElement('div');
  list.role = 'tablist';
  list.ariaLabel = group.dataset.tabs ?? '';
  const tabs = panels.map((panel) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.role = 'tab';
    tab.id = `${panel.id}-tab`;
    tab.textContent = panel.dataset.title ?? '';
    tab.setAttribute('aria-controls', panel.id);
    panel.role = 'tabpanel';
    panel.setAttribute('aria-labelledby', tab.id);
    panel.querySelector('h3')?.remove();
    return tab;
  });
  const show = (chosen: number) => {
    for (const [i, tab] of tabs.entries()) {
      tab.ariaSelected = String(i === chosen);
      tab.tabIndex = i === chosen ? 0 : -1;
      panels[i]!.hidden = i !== chosen;
    }
  };
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener('click', () => show(i));
    tab.addEventListener('keydown', ({ key }) => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
      if (step === 0) return;
      const next = (i + step + tabs.length) % tabs.length;
      show(next);
      tabs[next]!.focus();
    });
  }
  list.append(...tabs);
  group.prepend(list);
  show(0);
}
