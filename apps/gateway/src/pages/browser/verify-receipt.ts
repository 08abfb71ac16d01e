import type { Known, PartName, PublishedResult, SignedReceipt, Verified } from '@eloquentpoll/receipts';
import { element } from './draw.ts';
import { on } from './on.ts';

// The Verify button of a receipt: recomputes everything in it with the modules that the command line uses. They are
// loaded when the button is pressed.

export function offerVerification(card: HTMLElement): void {
  const button = card.querySelector<HTMLButtonElement>('[data-verify]')!;
  const place = card.querySelector<HTMLElement>('[data-parts]')!;
  button.hidden = false;
  on(button, 'click', async () => {
    button.disabled = true;
    place.replaceChildren(element('p', { class: 'muted' }, 'Working it out…'));
    try {
      place.replaceChildren(...shown(await verified(card.dataset.receipt!)));
    } catch {
      place.replaceChildren(element('p', { class: 'field-error' }, NOT_POSSIBLE));
    } finally {
      button.disabled = false;
    }
  });
}

const NOT_POSSIBLE =
  'The receipt could not be checked here. Browsers do it on https pages only; the command line does it anywhere: eloquentpoll verify.';

async function verified(id: string): Promise<Verified> {
  const [{ verifyReceipt }, receipt, { keys }, result] = await Promise.all([
    import('@eloquentpoll/receipts'),
    load(`/api/results/${id}/receipt`),
    loadJson<Pick<Known, 'keys'>>('/.well-known/jwks.json'),
    loadJson<PublishedResult>(`/api/results/${id}`),
  ]);
  const { proof } = JSON.parse(receipt) as SignedReceipt;
  const path = `/api/receipts/days?day=${proof?.day}&result_id=${id}`;
  const day = proof && (await loadJson<Required<Pick<Known, 'days'>>>(path));
  return verifyReceipt(receipt, { keys, days: day?.days, result });
}

const loadJson = async <T>(path: string): Promise<T> => JSON.parse(await load(path)) as T;

async function load(path: string): Promise<string> {
  const answer = await fetch(path, { headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.text();
}

const LABELS: Readonly<Record<PartName, string>> = {
  form: 'Form',
  canonical: 'Text',
  key: 'Key',
  signature: 'Signature',
  panel: 'Panel',
  tally: 'Tally',
  odds: 'Odds',
  decision: 'Decision to stop',
  price: 'Price',
  result: 'This page',
  inclusion: 'Sealed day',
};
const STATES = {
  holds: ['good', 'Valid'],
  fails: ['bad', 'Not valid'],
  unchecked: ['', 'Not checked'],
} as const;

function shown({ parts, isGood }: Verified): Node[] {
  const open = parts.some(({ state }) => state === 'unchecked');
  const good = open ? 'Everything that can be checked is valid.' : 'Everything is valid.';
  return [
    element(
      'p',
      { class: 'notice', 'data-tone': isGood ? 'good' : 'bad' },
      isGood ? good : 'This receipt is not valid.',
    ),
    element(
      'ul',
      { class: 'plain checks' },
      ...parts.map(({ name, state, says }) =>
        element(
          'li',
          { 'data-part': name, 'data-state': state },
          element('span', { class: 'badge', 'data-tone': STATES[state][0] }, STATES[state][1]),
          element('strong', {}, LABELS[name]),
          element('span', { class: 'muted small' }, says),
        ),
      ),
    ),
  ];
}
