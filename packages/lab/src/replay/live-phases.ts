import type { Phase } from './live-operation.ts';
import type { VoteFile } from './vote-file.ts';

/** Polls of a whole operation, and what happens in it. */
export function livePhases(file: VoteFile, polls: number): Phase[] {
  const fields = [...new Set(file.questions.map(({ category }) => category))].toSorted();
  const first = new Set(fields.slice(0, Math.ceil(fields.length / 2)));
  const share = (of: number) => Math.max(1, Math.round(polls * of));
  const any = () => true;
  const phases: Phase[] = [
    { name: 'steady', polls: share(0.4), badModels: 0, field: any, rebuilt: true },
    { name: 'three cheapest turn bad', polls: share(0.1), badModels: 3, field: any, rebuilt: false },
    {
      name: 'mended, half of the fields',
      polls: share(0.3),
      badModels: 0,
      field: (one) => first.has(one),
      rebuilt: true,
    },
    { name: 'the other fields', polls: share(0.2), badModels: 0, field: (one) => !first.has(one), rebuilt: false },
  ];
  return phases.filter(({ field }) => fields.some(field));
}
