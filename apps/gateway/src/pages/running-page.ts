import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import type { Poll } from '@eloquentpoll/storage';
import { juryRow } from './browser/jury-row.ts';
import { type PollPicture, verdictOn } from './browser/poll-picture.ts';
import { tallyBars } from './browser/tally-bars.ts';
import { verdictBlock } from './browser/verdict-parts.ts';
import { badge } from './components.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';
import { inLine } from './result-page.ts';
import { written } from './written.ts';

interface Running {
  baseUrl: string;
  poll: Pick<Poll, 'resultId' | 'spec'>;
  /** Null if the progress of the poll is unknown. */
  snapshot: ProgressSnapshot | null;
  signedIn?: boolean;
}

/**
 * The page of a running poll at the address of its result: a script updates it, without scripts it shows the state at
 * load.
 */
export function runningPage({ baseUrl, poll, snapshot, signedIn = false }: Running): string {
  const { resultId, spec } = poll;
  const path = `/result/${resultId}`;
  const picture = pictureOfRunning(poll, snapshot);
  return layout({
    baseUrl,
    path,
    title: `${inLine(spec.question, 60)} · running · EloquentPoll`,
    description: 'This poll is running. Its votes show as they arrive.',
    scripts: ['watch'],
    styles: ['polls', 'result'],
    hidden: true,
    signedIn,
    main: html`<h1 class="eyebrow">Running poll</h1>
<section class="card live-poll" data-watch="${path}/events" aria-label="The poll while it runs">
<div class="row spread"><h2 class="asked" dir="auto">${spec.question}</h2>${badge('Asking', 'accent')}</div>
${written([verdictBlock(verdictOn(picture), spec.options), juryRow(picture)])}
<div class="tally">${written(tallyBars(picture))}</div>
</section>
<noscript><p class="row"><a class="button" href="${path}">Reload</a> <span class="muted">to see how it stands.</span></p></noscript>`,
  });
}

function pictureOfRunning({ spec }: Running['poll'], snapshot: ProgressSnapshot | null): PollPicture {
  return {
    options: spec.options,
    tally: snapshot?.tally ?? spec.options.map(() => 0),
    panelSize: spec.seats.length,
    hasEnded: false,
    reason: null,
    confidence: snapshot?.confidence ?? null,
    votes: [],
    failed: snapshot?.progress.failed ?? 0,
    odds: [],
    points: [],
    threshold: spec.confidence_threshold,
    asking: null,
  };
}
