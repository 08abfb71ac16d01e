import { setTimeout as sleep } from 'node:timers/promises';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { presetPanel, type VotingPanel } from '../../fixture/voting-panel.ts';
import type { DayUser } from '../day-user.ts';
import type { AskedQuestion } from '../recorded-questions.ts';
import { type Activity, anyPerson, anyPreset, type DayWorld, judgeAnswer, newQuestion } from '../world.ts';

// Sessions: started, then followed by polling, by waiting, or as a stream.

interface Begun {
  asked: AskedQuestion;
  by: DayUser;
  sessionId: string;
  panel: VotingPanel;
}

const BegunSession = Type.Object({ session_id: Type.String() });
const SessionState = Type.Object({ status: Type.String() });
const EventData = Type.Record(Type.String(), Type.Unknown());

async function begin(
  world: DayWorld,
  way: string,
  more: { service_tier?: 'flex'; [name: string]: unknown } = {},
  by = anyPerson(world),
): Promise<Begun | null> {
  const [asked, preset] = [newQuestion(world), anyPreset(world)];
  const body = { ...asked, preset, ...more };
  const panel = presetPanel(preset, more.service_tier);
  const { isExpected, read } = await world.call({ way: `${way}: begin`, path: '/api/polls', body, by, expect: [202] });
  return isExpected ? { asked, by, panel, sessionId: read(BegunSession).session_id } : null;
}

const STATUS_MS = 500;
const WAIT_S = 20;
const WAITS = 6;
/** A flex poll may have to wait for a batch of its account. */
const WAITS_OF_FLEX = 45;

export const pollStatus: Activity = async (world) => {
  const way = 'session, polled';
  const begun = await begin(world, way);
  if (!begun) return;
  const began = performance.now();
  for (;;) {
    const { isExpected, read } = await status(world, `${way}: status`, begun);
    if (!isExpected) return;
    if (read(SessionState).status !== 'running') break;
    if (performance.now() - began > 120_000) return world.diary.note(`${way}: ${begun.sessionId} runs for two minutes`);
    await sleep(STATUS_MS);
  }
  await readResult(world, way, begun);
};

export const waitForStatus: Activity = async (world) => {
  const way = 'session, Prefer: wait';
  const begun = await begin(world, way, { metadata: { shift: world.chance.pick(['early', 'late']) } });
  if (begun && (await untilEnded(world, way, begun))) await readResult(world, way, begun);
};

export const flexSession: Activity = async (world) => {
  const way = 'session, flex';
  const begun = await begin(world, way, { service_tier: 'flex' });
  if (begun && (await untilEnded(world, way, begun, WAITS_OF_FLEX))) await readResult(world, way, begun);
};

/** The end is also sent to a webhook receiver, which checks the signature. */
export const sessionWithWebhook: Activity = async (world) => {
  const way = 'session with a webhook';
  const by = anyPerson(world);
  const begun = await begin(world, way, { webhook_url: world.receiver.urlFor(by.accountId) }, by);
  if (!begun) return;
  world.receiver.expectPoll(begun.sessionId);
  if (await untilEnded(world, way, begun)) await readResult(world, way, begun);
};

/** Votes received before the cancellation give a normal result; without votes there is none. */
export const cancelSession: Activity = async (world) => {
  const way = 'session, canceled';
  const begun = await begin(world, way);
  if (!begun) return;
  await sleep(world.chance.between(1, 800));
  const path = `/api/polls/${begun.sessionId}/cancel`;
  const canceled = await world.call({ way, method: 'POST', path, by: begun.by, expect: [200, 202] });
  if (canceled.isExpected && (await untilEnded(world, way, begun))) await readResult(world, way, begun, true);
};

async function untilEnded(world: DayWorld, way: string, begun: Begun, waits = WAITS): Promise<boolean> {
  for (let turn = 0; turn < waits; turn++) {
    const { isExpected, read } = await status(world, `${way}: wait`, begun, { prefer: `wait=${WAIT_S}` });
    if (!isExpected) return false;
    if (read(SessionState).status !== 'running') return true;
  }
  world.diary.note(`${way}: ${begun.sessionId} runs for ${waits * WAIT_S} s`);
  return false;
}

const status = (world: DayWorld, way: string, { sessionId, by }: Begun, headers = {}) =>
  world.call({ way, path: `/api/polls/${sessionId}/status`, by, headers });

async function readResult(world: DayWorld, way: string, begun: Begun, isCanceled = false): Promise<void> {
  const { asked, by, panel, sessionId } = begun;
  const { status, isExpected, value } = await world.call({
    way: `${way}: result`,
    path: `/api/polls/${sessionId}/result`,
    by,
    expect: isCanceled ? [200, 422] : [200],
  });
  if (!isExpected || status === 422) return;
  judgeAnswer(world, way, { asked, panel, isCanceled, answer: value, by, sessionId });
}

/** The events of a stream grow vote by vote, and the last one is the result. */
export const followStreamed: Activity = async (world) => {
  const way = 'stream';
  const [asked, by, preset] = [newQuestion(world), anyPerson(world), anyPreset(world)];
  const body = { ...asked, preset };
  const { isExpected, text } = await world.call({ way, path: '/api/poll/stream', body, by });
  if (!isExpected) return;
  const events = eventsIn(text);
  const numbers = events.map(({ data }) => Number(data.seq));
  if (numbers.some((seq, i) => seq !== i)) world.diary.note(`${way}: its events are numbered ${numbers.join(', ')}`);
  const last = events.at(-1);
  if (last?.event !== 'complete') return world.diary.note(`${way}: it ends with ${last?.event}`);
  const sessionId = String(last.data.session_id);
  judgeAnswer(world, way, { asked, panel: presetPanel(preset), answer: last.data, by, sessionId });
};

export function eventsIn(text: string): { event: string; data: Record<string, unknown> }[] {
  return text.split('\n\n').flatMap((block) => {
    const [, event] = /^event: (.*)$/m.exec(block) ?? [];
    const [, data] = /^data: (\{.*)$/m.exec(block) ?? [];
    return data === undefined ? [] : [{ event: event ?? 'message', data: readJson(EventData, data) }];
  });
}
