// The filters of /models without a page load: rows that do not match are hidden, and the address is kept up to date.

const form = document.querySelector<HTMLFormElement>('[data-filter]')!;
const rows = [...document.querySelectorAll<HTMLTableRowElement>('tbody tr')];
const count = document.querySelector('[data-count]')!;

form.querySelector('button')!.hidden = true;
form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('change', () => {
  // The server sorts the rows, so the order stays in the address.
  const fields = [...new FormData(form)];
  const chosen = fields.filter(([name]) => name !== 'sort').map(([name, value]) => [name, String(value)] as const);
  for (const row of rows) {
    row.hidden = !chosen.every(([name, value]) => value === '' || row.dataset[name]?.split(' ').includes(value));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  count.textContent = shown === 0 ? 'No model matches these filters.' : `${shown} of ${rows.length} models`;
  const query = new URLSearchParams(
    fields.map(([name, value]) => [name, String(value)]).filter(([, value]) => value !== ''),
  );
  history.replaceState(null, '', query.size > 0 ? `?${query}` : location.pathname);
});
