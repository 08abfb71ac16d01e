import { asPercent, tableLines } from '../terminal/table.ts';
import type { CostCheck } from './check-here.ts';
import type { GrowthPlan } from './plan.ts';

export function growthReport(plans: readonly { perSecond: number; plan: GrowthPlan }[]): string {
  const rows = plans.map(({ perSecond, plan }) => [
    count(perSecond),
    String(plan.cells),
    count(plan.perCell.perSecond),
    String(plan.perCell.gateways),
    String(plan.perCell.workers),
    String(plan.perCell.redisMasters),
    String(plan.perCell.postgresCores),
    String(plan.perCell.connections),
    `${plan.waitMs.toFixed(0)} ms`,
    plan.parts
      .slice(0, 2)
      .map(({ name, used }) => `${name} ${asPercent(used, 0)}`)
      .join(', '),
    count(plan.modelCallsPerSecond),
    String(plan.providerAccounts),
    `${count(plan.storedGbPerDay)} GB`,
    `$${count(plan.dollarsPerMonth)}`,
  ]);
  const head = [
    'polls/s',
    'cells',
    'polls/s each',
    'gateways',
    'workers',
    'Redis masters',
    'Postgres cores',
    'connections',
    'wait p99',
    'fullest, of what it can carry',
    'model calls/s',
    'provider accounts',
    'stored a day',
    'a month',
  ];
  return `${tableLines(head, rows, [9]).join('\n')}\n\nGateways to connections are those of one cell; above 180 connections a pooler stands before Postgres. Dollars are list prices of clouds for machines and disks, without models.\n`;
}

const count = (value: number): string =>
  value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : value.toLocaleString('en-US', { maximumSignificantDigits: 2 });

export function checkReport({ costs, cores, predictedPerSecond, measuredPerSecond }: CostCheck): string {
  const { gatewayUs, workerUs, postgresUs, redisUs } = costs;
  const us = (value: number) => `${value.toFixed(0)} us`;
  return [
    `One poll here, forty a second: gateway ${us(gatewayUs)}, worker ${us(workerUs)}, Postgres ${us(postgresUs)}, Redis ${us(redisUs)}.`,
    `That is ${predictedPerSecond.toFixed(0)} polls per second for ${cores} cores; with all it could do the machine carried ${measuredPerSecond.toFixed(0)} (${(measuredPerSecond / predictedPerSecond).toFixed(2)} of it).`,
    '',
    '',
  ].join('\n');
}
