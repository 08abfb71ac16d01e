import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { type PresetName, presetPanel } from '../../fixture/voting-panel.ts';
import { beginDeletion, type DayUser } from '../day-user.ts';
import type { AskedQuestion } from '../recorded-questions.ts';
import { type Activity, anyPerson, type DayWorld, judgeAnswer, newQuestion } from '../world.ts';

// Many polls in one request, as JSON and as a CSV file. Every row must have exactly one result, and a right one.

const MAX_ROWS = 60;

export const batchAsJson: Activity = async (world) => {
  const rows = newRows(world);
  const requests = rows.map((asked, i) => ({ custom_id: `row ${i}`, ...asked }));
  const by = anyPerson(world);
  const body = { requests, preset: 'fast', webhook_url: world.receiver.urlFor(by.accountId) };
  await run(world, 'batch, JSON', { rows, preset: 'fast' }, { body }, by);
};

export const batchAsCsv: Activity = async (world) => {
  const rows = newRows(world);
  const lines = rows.map(({ question, options }, i) => `row ${i},"${question}",${options.join('|')},${options[0]}`);
  const body = ['custom_id,question,options,gold', ...lines, ''].join('\n');
  await run(world, 'batch, CSV', { rows, preset: 'broad' }, { body, type: 'text/csv' });
};

export const batchCanceled: Activity = async (world) => {
  const rows = newRows(world);
  const requests = rows.map((asked, i) => ({ custom_id: `row ${i}`, ...asked }));
  await run(world, 'batch, canceled', { rows, preset: 'broad', isCanceled: true }, { body: { requests } });
};

const newRows = (world: DayWorld) => Array.from({ length: world.chance.whole(5, MAX_ROWS) }, () => newQuestion(world));

interface AskedRows {
  rows: readonly AskedQuestion[];
  preset: PresetName;
  isCanceled?: boolean;
}

async function run(
  world: DayWorld,
  way: string,
  asked: AskedRows,
  upload: { body: unknown; type?: string },
  by = anyPerson(world),
): Promise<void> {
  const begun = await world.call({ way: `${way}: upload`, path: '/api/batches', ...upload, by, expect: [202] });
  if (!begun.isExpected) return;
  const { batch_id: batchId } = begun.read(BegunBatch);
  const path = `/api/batches/${batchId}`;
  if (
    asked.isCanceled &&
    !(await world.call({ way, method: 'POST', path: `${path}/cancel`, by, expect: [200, 202] })).isExpected
  )
    return;
  for (let turn = 0; ; turn++) {
    const { isExpected, read } = await world.call({ way: `${way}: wait`, path, by, headers: { prefer: 'wait=20' } });
    if (!isExpected) return;
    if (read(BatchEnd).ended_at !== null) break;
    if (turn > 60) return world.diary.note(`${way}: ${batchId} has not ended after twenty minutes`);
  }
  const resultIds = await judgeRows(world, way, { path, by, ...asked });
  await world.call({
    way: `${way}: report`,
    path: `${path}/report`,
    by,
    expect: upload.type ? [200] : [200, 404, 409],
  });
  if (world.chance.happens(0.3)) {
    beginDeletion(by, resultIds);
    await world.call({ way: `${way}: delete`, method: 'DELETE', path, by });
  }
}

const BegunBatch = Type.Object({ batch_id: Type.String() });
const BatchEnd = Type.Object({ ended_at: Type.Union([Type.String(), Type.Null()]) });
const ResultLine = Type.Object({
  custom_id: Type.String(),
  status: Type.String(),
  session_id: Type.Union([Type.String(), Type.Null()]),
  result: Type.Unknown(),
});

const RowResult = Type.Object({ poll_id: Type.String() });

/** Returns the ids of the results. */
async function judgeRows(
  world: DayWorld,
  way: string,
  { path, by, rows, preset, isCanceled = false }: AskedRows & { path: string; by: DayUser },
): Promise<string[]> {
  const { isExpected, text } = await world.call({ way: `${way}: results`, path: `${path}/results`, by });
  if (!isExpected) return [];
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => readJson(ResultLine, line));
  const ids = new Set(lines.map(({ custom_id }) => custom_id));
  if (lines.length !== rows.length || ids.size !== rows.length)
    world.diary.note(`${way}: ${rows.length} rows were sent, ${lines.length} came back, ${ids.size} different ones`);
  for (const { custom_id, status, result, session_id: sessionId } of lines) {
    const asked = rows[Number(custom_id.slice('row '.length))]!;
    if (result)
      judgeAnswer(world, way, { asked, panel: presetPanel(preset, 'flex'), isCanceled, answer: result, by, sessionId });
    else if (!isCanceled) world.diary.note(`${way}: a row is ${status} and has no result`);
  }
  return lines.flatMap(({ result }) => (Value.Check(RowResult, result) ? [result.poll_id] : []));
}
