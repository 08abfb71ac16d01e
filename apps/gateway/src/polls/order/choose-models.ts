import type { Issue } from '@eloquentpoll/contracts';
import { closest } from '@eloquentpoll/models/panels';
import type { PollOrder } from '@eloquentpoll/polls';
import { findSavedPanel } from '@eloquentpoll/storage';
import { invalid } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

// The models of a custom panel: those that the caller listed, or those of the saved panel that the caller named.

type Sources = Pick<PollsContext, 'panels' | 'storage'>;

/** Adds the models to the order; answers 400 for models that cannot be asked and for an unknown saved panel. */
export async function chooseModels(sources: Sources, order: PollOrder, accountId: string | null): Promise<PollOrder> {
  const { models, issues } = await modelsOf(sources, order, accountId);
  if (issues.length > 0) throw invalid(issues);
  return models === undefined ? order : { ...order, models };
}

/** The issues for which chooseModels would refuse the order. */
export const chosenModelIssues = async (
  sources: Sources,
  order: PollOrder,
  accountId: string | null,
): Promise<Issue[]> => (await modelsOf(sources, order, accountId)).issues;

interface Chosen {
  models?: readonly string[] | undefined;
  issues: Issue[];
}

async function modelsOf({ panels, storage }: Sources, order: PollOrder, accountId: string | null): Promise<Chosen> {
  const { models, saved_panel: name } = order;
  // A batch row has both, because its models were chosen at upload.
  if (name === undefined || models !== undefined) return { models, issues: unknownModelIssues(panels, models ?? []) };
  if (accountId === null) return { issues: [NEEDS_ACCOUNT] };
  const saved = await findSavedPanel(storage, accountId, name);
  if (!saved)
    return {
      issues: [{ pointer: '#/panel', detail: `panel: the account has no saved panel ${JSON.stringify(name)}` }],
    };
  const issues = unknownModelIssues(panels, saved.models, (detail) => ({
    pointer: '#/panel',
    detail: `panel ${name}: ${detail}`,
  }));
  return { models: saved.models, issues };
}

export const NEEDS_ACCOUNT: Issue = {
  pointer: '#/panel',
  detail: 'panel: a saved panel belongs to an account; POST /api/poll/dry-run with its API key estimates it',
};

export function unknownModelIssues(
  panels: PollsContext['panels'],
  ids: readonly string[],
  issueOf = (detail: string, i: number): Issue => ({ pointer: `#/models/${i}`, detail: `models[${i}]: ${detail}` }),
): Issue[] {
  return ids.flatMap((id, i) => (panels.model(id) ? [] : [issueOf(unknownModel(panels, id), i)]));
}

function unknownModel(panels: PollsContext['panels'], id: string): string {
  const known = panels.models().map((model) => model.id);
  const near = closest(id, known, Math.max(2, Math.floor(id.length / 2)));
  return `there is no model ${JSON.stringify(id)}; ${near ? `the closest is ${JSON.stringify(near)}` : 'GET /api/panels lists them'}`;
}
