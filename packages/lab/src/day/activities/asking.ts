import { randomUUID } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { freePanel, namedPanel, presetPanel, type VotingPanel } from '../../fixture/voting-panel.ts';
import { inMicroUsd, remember } from '../day-user.ts';
import { type Activity, anyPerson, anyPreset, type DayWorld, judgeAnswer, newQuestion } from '../world.ts';
import { judgePublicResult, type ShortAnswer } from './judge-public-result.ts';

// Polls that are answered in the same request.

const ask = async (world: DayWorld, way: string, panel: VotingPanel, more: object): Promise<void> => {
  const [asked, by] = [newQuestion(world), anyPerson(world)];
  const body = { ...asked, ...more };
  const { isExpected, value } = await world.call({ way, path: '/api/poll', body, by });
  if (isExpected) judgeAnswer(world, way, { asked, panel, answer: value, by });
};

export const askSync: Activity = (world) => {
  const preset = anyPreset(world);
  return ask(world, 'POST /api/poll', presetPanel(preset), { preset });
};

export const askSyncLoggedIn: Activity = async (world) => {
  const [asked, by] = [newQuestion(world), anyPerson(world)];
  const way = 'POST /api/poll with a login';
  const { isExpected, value } = await world.call({ way, path: '/api/poll', body: asked, by, with: 'cookie' });
  if (isExpected) judgeAnswer(world, way, { asked, panel: presetPanel('broad'), answer: value, by });
};

/** The same idempotency key twice gives one poll, charged once. */
export const askTwice: Activity = async (world) => {
  const [asked, by] = [newQuestion(world), anyPerson(world)];
  const way = 'POST /api/poll, repeated';
  const headers = { 'idempotency-key': randomUUID() };
  const call = { way, path: '/api/poll', body: { ...asked, preset: 'fast' }, by, headers };
  const first = await world.call(call);
  if (!first.isExpected) return;
  judgeAnswer(world, way, { asked, panel: presetPanel('fast'), answer: first.value, by });
  const second = await world.call(call);
  if (second.isExpected) world.diary.judge(way, second.text === first.text ? [] : ['the repeated answer is another']);
};

export const askModels: Activity = (world) => {
  const all = [...world.questions.models];
  const models = Array.from({ length: world.chance.whole(3, 6) }, () => {
    const [model] = all.splice(world.chance.whole(0, all.length - 1), 1);
    return model!;
  });
  return ask(world, 'models: [...]', namedPanel(models), {
    models,
    metadata: { team: world.chance.pick(['red', 'blue']) },
  });
};

export const askSavedPanel: Activity = async (world) => {
  const by = anyPerson(world);
  const way = 'saved panel';
  const number = world.chance.whole(1, 5);
  const name = `panel-${number}`;
  const models = world.questions.models.slice(number, number + 5);
  const saved = await world.call({
    way,
    method: 'PUT',
    path: `/api/panels/${name}`,
    body: { models },
    by,
    expect: [200, 201],
  });
  if (!saved.isExpected) return;
  const asked = newQuestion(world);
  const { isExpected, value } = await world.call({ way, path: '/api/poll', body: { ...asked, panel: name }, by });
  if (isExpected) judgeAnswer(world, way, { asked, panel: namedPanel(models), answer: value, by });
};

const QuickAnswer = Type.Object({
  answer: Type.Union([Type.String(), Type.Null()]),
  cost: Type.Number(),
  poll_id: Type.String(),
});

const shortAnswer = ({ answer, cost, poll_id }: Static<typeof QuickAnswer>): ShortAnswer => ({
  ...{ resultId: poll_id, winner: answer, costUsd: cost },
});

export const askQuick: Activity = async (world) => {
  const [asked, by] = [newQuestion(world), anyPerson(world)];
  const { isExpected, read } = await world.call({ way: 'quick poll', path: '/api/quick-poll', body: asked, by });
  if (!isExpected) return;
  const quick = read(QuickAnswer);
  by.chargedU += inMicroUsd(quick.cost);
  remember(by, { resultId: quick.poll_id, sessionId: null, question: asked.question });
  await judgePublicResult(world, 'quick poll', { asked, panel: presetPanel('broad') }, shortAnswer(quick));
};

export const askFreeQuick: Activity = async (world) => {
  const asked = newQuestion(world);
  const { isExpected, read } = await world.call({
    ...{ way: 'free quick poll', path: '/api/quick-poll', body: asked, asksWithoutKey: true },
  });
  if (!isExpected) return;
  const quick = read(QuickAnswer);
  if (quick.cost !== 0) world.diary.note(`free quick poll: it costs ${quick.cost}`);
  await judgePublicResult(world, 'free quick poll', { asked, panel: freePanel() }, shortAnswer(quick));
};

/** Sends the playground form as a browser without scripts does. */
export const askByForm: Activity = async (world) => {
  const asked = newQuestion(world);
  const form = new URLSearchParams({ question: asked.question });
  for (const option of asked.options) form.append('option', option);
  const way = 'playground form';
  const sent = await world.call({
    ...{ way, path: '/playground', body: form, type: 'application/x-www-form-urlencoded' },
    ...{ expect: [303], isManual: true, asksWithoutKey: true },
  });
  if (!sent.isExpected) return;
  const [, resultId] = /\/result\/(EP-[^?#]+)/.exec(sent.headers.get('location') ?? '') ?? [];
  if (!resultId) return world.diary.note(`${way}: it leads to ${sent.headers.get('location')}`);
  const page = await world.call({ way: 'result page', path: `/result/${resultId}` });
  if (page.isExpected)
    world.diary.judge(way, page.text.includes(asked.question) ? [] : ['the page has another question']);
};
