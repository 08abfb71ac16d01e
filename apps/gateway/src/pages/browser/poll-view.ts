import { dollars, savedUsd } from '@eloquentpoll/voting/verdict';
import { draw, element } from './draw.ts';
import { juryRow } from './jury-row.ts';
import { oddsView } from './odds-view.ts';
import { afterEnd, afterProgress, type EndEvent, NOTHING_YET, type ProgressEvent } from './poll-events.ts';
import { receivedOf, verdictOn } from './poll-picture.ts';
import { rememberPoll } from './recent-polls.ts';
import { tallyBars } from './tally-bars.ts';
import { verdictBlock } from './verdict-parts.ts';
import { voteError } from './vote-error.ts';

// Shows a running poll from its event stream: the current verdict on top, the votes behind it below.

export interface PollView {
  update(event: unknown): void;
  ended(event: unknown): void;
  failed(sentence: string): void;
}

interface Options {
  /** Called with the address of the poll's page, which is the address of its result from the start. */
  onAddress?: (url: string) => void;
  /** Free polls are also remembered on this device. */
  isFree?: boolean;
  /** Handler of the "edit" button that is shown at the end. */
  onEdit?: () => void;
}

/** Draws into `place` and replaces its content. */
export function pollView(place: HTMLElement, { onAddress, isFree = false, onEdit }: Options = {}): PollView {
  const badge = element('span', { class: 'badge', 'data-tone': 'accent' }, 'Asking');
  const question = element('h2', { class: 'asked', dir: 'auto' });
  const verdict = element('div', { class: 'verdict-now', role: 'status' });
  const jury = element('div');
  const tally = element('div', { class: 'tally' });
  const odds = element('div');
  const votes = element('ol', { class: 'votes' });
  const foot = element('div', { class: 'row live-foot' });
  place.replaceChildren(
    element('div', { class: 'row spread' }, question, badge),
    verdict,
    jury,
    tally,
    element('h3', {}, 'Chance of winning the full panel, vote by vote'),
    odds,
    votes,
    foot,
  );
  place.hidden = false;

  const chart = oddsView(odds);
  let picture = NOTHING_YET;
  let figures: Parameters<typeof verdictOn>[1] = {};

  function show(): void {
    const { options } = picture;
    draw(verdict, [verdictBlock(verdictOn(picture, figures), options)]);
    draw(jury, [juryRow(picture)]);
    draw(tally, tallyBars(picture));
    chart.show(picture);
    for (const { model, option, error, latencyMs } of picture.votes.slice(votes.children.length)) {
      const choice = option === null ? voteError(error) : options[option]!;
      votes.append(
        element(
          'li',
          { class: option === null ? 'no-vote' : '' },
          element('span', { class: 'model' }, model),
          element('span', { class: 'choice', dir: 'auto' }, choice),
          element('span', { class: 'took' }, `${(latencyMs / 1_000).toFixed(2)} s`),
        ),
      );
    }
  }

  draw(verdict, [verdictBlock(verdictOn(picture), [])]);
  const headline = () => verdict.querySelector<HTMLElement>('.headline');

  return {
    update(event) {
      const progress = event as ProgressEvent;
      picture = afterProgress(picture, progress);
      if (progress.question !== undefined) question.textContent = progress.question;
      if (progress.page_url) onAddress?.(progress.page_url);
      if (isFree && progress.page_url)
        rememberPoll({ url: progress.page_url, question: progress.question ?? '', options: picture.options });
      badge.textContent = `${receivedOf(picture)} of ${picture.panelSize}`;
      show();
    },
    ended(event) {
      const end = event as EndEvent;
      picture = afterEnd(picture, end);
      figures = {
        savedUsd: savedUsd(
          end.votes.flatMap(({ chosen_option, estimated_cost = 0 }) =>
            chosen_option === null ? [] : [estimated_cost],
          ),
          end.models_skipped,
        ),
        ...(end.max_cost_usd !== undefined && { limitUsd: end.max_cost_usd }),
        ...(end.min_cost_usd !== undefined && { cheapestVoteUsd: end.min_cost_usd }),
      };
      question.textContent = end.question;
      votes.replaceChildren();
      badge.textContent = 'Ended';
      badge.dataset.tone = ['final', 'kept'].includes(verdictOn(picture).kind) ? 'good' : 'warn';
      show();
      const url = `/result/${end.poll_id}`;
      if (isFree) rememberPoll({ url, question: end.question, options: end.options, winner: end.winning_option });
      const cost = end.costs?.total_estimated_cost ?? 0;
      foot.replaceChildren(
        element('a', { class: 'button', href: url }, 'View and share'),
        ...(onEdit ? [editButton(onEdit)] : []),
        ...(end.simulated ? [element('span', { class: 'badge', 'data-tone': 'warn' }, 'Simulated models')] : []),
        ...(cost > 0 && !isFree ? [element('span', { class: 'muted small' }, `Cost ${dollars(cost)}`)] : []),
      );
      headline()?.scrollIntoView({ block: 'nearest' });
    },
    failed(sentence) {
      badge.textContent = 'Not finished';
      badge.dataset.tone = 'bad';
      foot.replaceChildren(
        element('p', { class: 'field-error', role: 'alert' }, sentence),
        ...(onEdit ? [editButton(onEdit)] : []),
      );
    },
  };
}

function editButton(onEdit: () => void): HTMLButtonElement {
  const button = element('button', { class: 'button secondary', type: 'button' }, 'Edit and ask again');
  button.addEventListener('click', onEdit);
  return button;
}
