import { parseArgs } from 'node:util';
import { Failure } from '@eloquentpoll/launch/failure';
import { loadPanels, loadProviders, type Model, ROSTERS, settingsOf } from '@eloquentpoll/models/panels';
import { type ProbeReport, probeModel } from '@eloquentpoll/models/probe';
import { asTable } from '../db/as-table.ts';

type Print = (line: string) => void;

const USAGE = 'npm run providers -- [--check NAME[,NAME] [--model ID | --all]] [--json]';

/** Resolves to true if something is wrong. Checks whether keys are set, but never prints them. */
export async function runProviders(args: string[], env: NodeJS.ProcessEnv, print: Print): Promise<boolean> {
  const { check, model, all, json } = readOptions(args);
  if (check === undefined) {
    const rows = listRosters(env);
    print(json ? JSON.stringify(rows, null, 2) : asTable({ fields: FIELDS, rows }));
    return false;
  }
  const reports: ProbeReport[] = [];
  for (const probe of chosen(check, model, all)) {
    const found = await probeModel(probe.provider, probe.model, (name) => env[name]);
    reports.push(found);
    if (!json) for (const line of linesOf(found)) print(line);
  }
  if (json) print(JSON.stringify(reports, null, 2));
  return reports.some(({ findings }) => findings.length > 0);
}

function readOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        check: { type: 'string' },
        model: { type: 'string' },
        all: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : String(error)}\nUsage: ${USAGE}`);
  }
}

const FIELDS = ['roster', 'models', 'set', 'missing', 'panel'].map((name) => ({ name }));

function listRosters(env: NodeJS.ProcessEnv): Record<string, unknown>[] {
  return [...Object.keys(ROSTERS), 'mixed'].map((roster) => {
    const { providers, models } = read(roster);
    const settings = [...new Set([...providers.values()].flatMap(settingsOf))];
    const isSet = (name: string): boolean => Boolean(env[name]?.trim());
    return {
      roster,
      models: models.size,
      set: settings.filter(isSet).join(' ') || (settings.length === 0 ? 'none needed' : ''),
      missing: settings.filter((name) => !isSet(name)).join(' '),
      panel: isPanel(roster) ? 'alone' : 'with another',
    };
  });
}

function isPanel(roster: string): boolean {
  try {
    loadPanels({ file: roster });
    return true;
  } catch {
    return false;
  }
}

function read(roster: string) {
  try {
    return loadProviders(roster);
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error));
  }
}

/** The cheapest model of each provider, the model named `id`, or all models. */
function chosen(roster: string, id: string | undefined, all = false) {
  const { providers, models } = read(roster);
  const pairs = [...models.values()].map((model) => ({ model, provider: providers.get(model.provider)! }));
  if (all) return pairs;
  if (id !== undefined) {
    const named = pairs.filter(({ model }) => model.id === id);
    if (named.length > 0) return named;
    throw new Failure(`--model: ${roster} has no ${id}; it has ${[...models.keys()].join(', ')}`);
  }
  return [...providers.keys()].flatMap((name) =>
    pairs
      .filter(({ provider }) => provider.name === name)
      .toSorted((a, b) => priceOf(a.model) - priceOf(b.model))
      .slice(0, 1),
  );
}

const priceOf = ({ price, maxOutputTokens }: Model): number => Number(price.output) * maxOutputTokens;

function linesOf({ modelId, latencyMs, usage, cost, findings }: ProbeReport): string[] {
  const tokens = usage ? `, ${usage.inputTokens} + ${usage.outputTokens} tokens` : '';
  const costU = cost.saidU ?? cost.countedU;
  const price = costU === null ? '' : `, $${(costU / 1_000_000).toFixed(6)}`;
  const head = `${findings.length === 0 ? '✓' : '✗'} ${modelId}  ${(latencyMs / 1_000).toFixed(1)} s${tokens}${price}`;
  return [
    head,
    ...findings.map(({ code, says, change }) => `    ${code}: ${says}${change ? `\n      change ${change}` : ''}`),
  ];
}
