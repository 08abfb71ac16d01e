import { tableLines } from '../terminal/table.ts';
import type { JudgedPanel } from './judge-panels.ts';

export function panelsReport(panels: readonly JudgedPanel[]): string {
  const priced = panels.some(({ price }) => price !== null);
  const rows = panels.map(({ name, bestMember, figures, reading, price, bestMemberPrice }) => {
    const { plurality, tied, tiesBroken, bestMemberRight, difference, effectiveVotes } = figures;
    const perRight = (share: number) => (price === null ? '-' : (price / share).toFixed(2));
    return [
      name,
      bestMember,
      `${points(plurality.share)} [${points(plurality.low)}, ${points(plurality.high)}]`,
      points(tied.share),
      points(tiesBroken),
      points(bestMemberRight.share),
      pointsWithin(difference),
      effectiveVotes?.toFixed(1) ?? '-',
      reading ? points(reading.right.mean) : '-',
      reading ? pointsWithin(reading.overPlurality) : '-',
      reading ? pointsWithin(reading.overBestMember) : '-',
      ...(priced
        ? [
            price?.toFixed(2) ?? '-',
            bestMemberPrice?.toFixed(2) ?? '-',
            `${perRight(plurality.share)} [${perRight(plurality.high)}, ${perRight(plurality.low)}]`,
          ]
        : []),
    ];
  });
  const head = [
    'panel',
    'best member',
    'plurality %',
    'tied',
    'ties broken',
    'best member %',
    'difference',
    'counts like',
    'reading %',
    'over ties broken',
    'over best member',
  ];
  const prices = priced ? ['m$ a poll', 'best alone', 'm$ a right answer'] : [];
  return [
    `${panels[0]?.figures.questions ?? 0} questions, other than those on which panels and best members were chosen`,
    'The reading is learned on the others too, without their answers; a tie is broken at random wherever two are compared.',
    '',
    ...tableLines([...head, ...prices], rows, [0, 1]),
    '',
    ...panels.map(({ name, models }) => `${name}: ${models.join(', ')}`),
    '',
    ...panels.filter(({ isBelowItsBest }) => isBelowItsBest).map(warning),
    '',
  ].join('\n');
}

/** In plain words, as the panel's owner should read them. */
function warning({ name, bestMember, figures: { difference } }: JudgedPanel): string {
  const [low, high] = [points(-difference.high), points(-difference.low)];
  return `WARNING: ${name} is right less often than ${bestMember} alone, by ${low} to ${high} points. Ask that model, or choose peers of it.`;
}

const pointsWithin = ({ mean, low, high }: { mean: number; low: number; high: number }): string =>
  `${points(mean, true)} [${points(low, true)}, ${points(high, true)}]`;

function points(share: number, signed = false): string {
  const text = (100 * share).toFixed(1);
  return signed && share > 0 ? `+${text}` : text;
}
