import { CLIMB_HEIGHT, type Climb, type ClimbStep, climbLabel, climbShapes } from './climb.ts';
import { element, svg } from './draw.ts';
import { sure, voteError, whyItStopped } from './why-it-stopped.ts';

// Shows a running poll from the events of its stream. Each event holds the whole state, so a lost event does not matter.

interface Vote {
  model_id: string;
  success: boolean;
  chosen_option: string | null;
  latency_ms: number;
  error: string | null;
}

/** A `started` event; only the first has the question. */
interface ProgressEvent {
  models_requested: number;
  progress: { received: number; total: number };
  tally: Record<string, number>;
  leader: string | null;
  confidence: number | null;
  vote: Vote | null;
  question?: string;
  options?: string[];
  confidence_threshold?: number;
}

/** `complete`. */
interface Ended {
  poll_id: string;
  status: 'success' | 'partial' | 'failed';
  options: string[];
  winning_option: string | null;
  is_tie: boolean;
  tally: Record<string, number>;
  votes: Vote[];
  models_skipped: number;
  termination_reason: string | null;
  confidence: number | null;
  confidence_threshold: number;
}

export interface PollView {
  update(event: unknown): void;
  ended(event: unknown): void;
  failed(sentence: string): void;
}

/** Draws into `place`, and takes it over. */
export function pollView(place: HTMLElement): PollView {
  const badge = element('span', { class: 'badge', 'data-tone': 'accent' }, 'Asking');
  const question = element('h2', { class: 'asked', dir: 'auto' });
  const bars = element('ul', { class: 'bars' });
  const chart = svg('svg', { class: 'climb', width: '100%', height: CLIMB_HEIGHT, role: 'img' });
  const says = element('p', { class: 'says-now', role: 'status' });
  const votes = element('ol', { class: 'votes' });
  const next = element('p', { class: 'row' });
  place.replaceChildren(
    element('div', { class: 'row spread' }, question, badge),
    bars,
    element('h3', {}, 'How sure the outcome is'),
    chart,
    says,
    votes,
    next,
  );
  place.hidden = false;

  let options: string[] = [];
  const climb: Climb & { steps: ClimbStep[] } = { steps: [], total: 1, threshold: 0.95, stoppedAt: null };
  const seen = new Set<string>();

  function drawBars(tally: Record<string, number>, leader: string | null): void {
    const counts = options.map((option) => (Object.hasOwn(tally, option) ? tally[option]! : 0));
    const most = Math.max(1, ...counts);
    for (const [i, option] of options.entries()) {
      const row = bars.children[i] ?? bars.appendChild(barRow(option));
      row.classList.toggle('leads', option === leader);
      row.querySelector('.count')!.textContent = String(counts[i]);
      row.querySelector('rect')!.setAttribute('width', `${(100 * counts[i]!) / most}%`);
    }
  }

  function drawClimb(): void {
    chart.replaceChildren(...climbShapes(climb).map(({ name, attributes, text }) => svg(name, attributes, text)));
    chart.setAttribute('aria-label', climbLabel(climb));
  }

  function addVote({ model_id, chosen_option, latency_ms, error }: Vote): void {
    if (seen.has(model_id)) return;
    seen.add(model_id);
    const choice = chosen_option ?? voteError(error);
    votes.append(
      element(
        'li',
        { class: chosen_option === null ? 'no-vote' : '' },
        element('span', { class: 'model' }, model_id),
        element('span', { class: 'choice', dir: 'auto' }, choice),
        element('span', { class: 'took' }, `${(latency_ms / 1_000).toFixed(2)} s`),
      ),
    );
  }

  function step(received: number, confidence: number | null): void {
    if (confidence === null) return;
    climb.steps = [...climb.steps.filter((one) => one.received < received), { received, confidence }];
  }

  return {
    update(event) {
      const progress = event as ProgressEvent;
      if (progress.options) {
        options = progress.options;
        question.textContent = progress.question ?? '';
        climb.threshold = progress.confidence_threshold ?? climb.threshold;
      }
      climb.total = progress.progress.total;
      step(progress.progress.received, progress.confidence);
      drawBars(progress.tally, progress.leader);
      drawClimb();
      if (progress.vote) addVote(progress.vote);
      badge.textContent = `${progress.progress.received} of ${progress.progress.total}`;
      says.textContent = progress.leader === null ? 'The models are reading.' : `Ahead, by now: ${progress.leader}`;
    },
    ended(event) {
      const end = event as Ended;
      options = end.options;
      const asked = end.votes.length;
      climb.total = asked + end.models_skipped;
      climb.threshold = end.confidence_threshold;
      climb.stoppedAt = asked;
      step(asked, end.confidence);
      drawBars(end.tally, end.winning_option);
      drawClimb();
      for (const vote of end.votes) addVote(vote);
      badge.textContent = end.status === 'success' ? 'Done' : end.status === 'partial' ? 'Partial' : 'No outcome';
      badge.dataset.tone = end.status === 'success' ? 'good' : 'warn';
      const outcome = end.winning_option ?? (end.is_tie ? 'A tie' : 'No votes');
      const firm = end.confidence === null ? '' : `, ${sure(end.confidence)} sure`;
      says.replaceChildren(
        element('strong', { dir: 'auto' }, outcome),
        `${firm}. ${whyItStopped({ ...end, asked, skipped: end.models_skipped })}`,
      );
      next.replaceChildren(element('a', { class: 'button', href: `/result/${end.poll_id}` }, 'Open the result'));
    },
    failed(sentence) {
      badge.textContent = 'Not finished';
      badge.dataset.tone = 'bad';
      says.textContent = sentence;
    },
  };
}

const barRow = (option: string): HTMLLIElement =>
  element(
    'li',
    { class: 'bar-row' },
    element('span', { class: 'name', dir: 'auto' }, option),
    element('span', { class: 'count' }),
    svg('svg', { class: 'bar', 'aria-hidden': 'true' }, svg('rect', { width: '0%', height: '100%' })),
  );
