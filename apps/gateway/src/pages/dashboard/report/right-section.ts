import type { BatchReport } from '@eloquentpoll/contracts';
import { table } from '../../components.ts';
import { percent, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { bandPlot } from '../../trust/band-plot.ts';
import { measured } from './measured.ts';

type Bands = BatchReport['by_confidence'];

/** How often answers were right, by confidence and by agreement. */
export const rightSection = ({
  by_confidence,
  by_agreement,
}: BatchReport): Html => html`<h2 id="right">When is it right?</h2>
<p>Confidence means that the other models would not change the answer, not that it is right. When models agree, they are right more often; these figures show how much more often.</p>
<div class="beside"><div><h3>By how many models agreed</h3>
${rightPlot(by_agreement, 'the share of votes for the answer')}
${rightTable('Votes for the answer', by_agreement)}</div>
<div><h3>By confidence</h3>
${rightPlot(by_confidence, 'the confidence of the answer')}
${rightTable('Confidence', by_confidence)}</div></div>`;

const rightPlot = (bands: Bands, across: string): Html =>
  bandPlot(
    bands.map(({ from, to, said, right }) => ({
      ...{ from, to, said, polls: right.of, pooled: false },
      ...{ came_true: right.share ?? 0, low: right.low, high: right.high },
    })),
    {
      label: `How often answers were right, by ${across}; the table below has the figures`,
      verb: 'right',
      caption: `Across: ${across}. Up: how often it was right, with its 95% interval.`,
    },
  );

const rightTable = (title: string, bands: Bands): Html =>
  table(
    `Right answers by ${title.toLowerCase()}`,
    html`<tr><th scope="col">${title}</th><th scope="col" class="number">Right</th><th scope="col" class="number">Polls</th></tr>`,
    bands.map(
      ({
        from,
        to,
        right,
      }) => html`<tr><th scope="row">${from === 1 ? '100%' : `${percent(from)} to ${percent(to)}`}</th><td class="number">${measured(right)}</td><td class="number">${whole(right.of)}${right.of < FEW ? html`<span class="muted small under">few</span>` : ''}</td></tr>
`,
    ),
  );

/** With fewer rows the interval is about ten points wide on either side. */
const FEW = 100;
