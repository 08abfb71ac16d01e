import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { SimulatorOptions } from './app.ts';
import { Behaviour, RegistrySettings } from './behaviour.ts';
import { EXAMPLE_ANSWERS } from './known-answers.ts';
import { parseRecordedVotes } from './recorded-votes.ts';

// Settings of the process. Every mistake is reported in one line that names the variable or the place in the file.

const ConfigFile = Type.Object(
  {
    seed: Type.Optional(Type.String({ minLength: 1 })),
    latency_scale: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
    required_key: Type.Optional(Type.String({ minLength: 1 })),
    /** Recorded votes, relative to this file. */
    votes_file: Type.Optional(Type.String({ minLength: 1 })),
    /** Answers by question. Replaces the answers to our own examples. */
    known_answers: Type.Optional(Type.Record(Type.String(), Type.String())),
    call_log_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    models: Type.Optional(Type.Record(Type.String(), Behaviour)),
    registry: Type.Optional(RegistrySettings),
  },
  { additionalProperties: false },
);
type ConfigFile = Static<typeof ConfigFile>;

export interface Config {
  host: string;
  port: number;
  options: SimulatorOptions;
}

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const file = env.SIMULATOR_CONFIG ? readConfigFile(env.SIMULATOR_CONFIG) : {};
  const seed = env.SIMULATOR_SEED || file.seed;
  const latencyScale = numberIn(env, 'LATENCY_SCALE', 0, 1000) ?? file.latency_scale;
  const options: SimulatorOptions = {
    knownAnswers: file.known_answers ?? EXAMPLE_ANSWERS,
    ...(seed === undefined ? {} : { seed }),
    ...(latencyScale === undefined ? {} : { latencyScale }),
    ...(file.required_key === undefined ? {} : { requiredKey: file.required_key }),
    ...(file.call_log_size === undefined ? {} : { callLogSize: file.call_log_size }),
    ...(file.models === undefined ? {} : { models: file.models }),
    ...(file.registry === undefined ? {} : { registry: file.registry }),
    ...(file.votes_file === undefined ? {} : { recordedVotes: readVotes(env.SIMULATOR_CONFIG!, file.votes_file) }),
  };
  return { host: env.HOST || '127.0.0.1', port: numberIn(env, 'PORT', 0, 65_535) ?? 0, options };
}

function readConfigFile(path: string): ConfigFile {
  const value = naming('SIMULATOR_CONFIG', path, () => JSON.parse(readFileSync(path, 'utf8')) as unknown);
  const problem = Value.Errors(ConfigFile, value).First();
  if (problem !== undefined) throw new Error(`SIMULATOR_CONFIG: ${path}: ${problem.path || '/'}: ${problem.message}`);
  return Value.Decode(ConfigFile, value);
}

function readVotes(configPath: string, votesFile: string) {
  const path = resolve(dirname(configPath), votesFile);
  return naming('SIMULATOR_CONFIG: votes_file', path, () => parseRecordedVotes(readFileSync(path, 'utf8')));
}

function naming<T>(setting: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${setting}: ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function numberIn(env: NodeJS.ProcessEnv, name: string, least: number, most: number): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  const whole = most === 65_535;
  if (!(value >= least && value <= most) || (whole && !Number.isInteger(value)))
    throw new Error(`${name} must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}, not "${text}"`);
  return value;
}
