import anthropic from '../rosters/anthropic.json' with { type: 'json' };
import azure from '../rosters/azure.json' with { type: 'json' };
import bedrock from '../rosters/bedrock.json' with { type: 'json' };
import deepseek from '../rosters/deepseek.json' with { type: 'json' };
import fireworks from '../rosters/fireworks.json' with { type: 'json' };
import gemini from '../rosters/gemini.json' with { type: 'json' };
import groq from '../rosters/groq.json' with { type: 'json' };
import llamacpp from '../rosters/llamacpp.json' with { type: 'json' };
import mistral from '../rosters/mistral.json' with { type: 'json' };
import ollama from '../rosters/ollama.json' with { type: 'json' };
import openai from '../rosters/openai.json' with { type: 'json' };
import openrouter from '../rosters/openrouter.json' with { type: 'json' };
import simulator from '../rosters/simulator.json' with { type: 'json' };
import together from '../rosters/together.json' with { type: 'json' };
import vllm from '../rosters/vllm.json' with { type: 'json' };
import xai from '../rosters/xai.json' with { type: 'json' };

/** Roster files that are part of the product. Every other name is a path. */
export const ROSTERS: Readonly<Record<string, unknown>> = {
  openai,
  anthropic,
  gemini,
  mistral,
  groq,
  together,
  fireworks,
  deepseek,
  xai,
  openrouter,
  azure,
  bedrock,
  vllm,
  ollama,
  llamacpp,
  simulator,
};

/** Panels of six vendors, each asked with its own key. */
const MIXED = ['openai', 'anthropic', 'gemini', 'mistral', 'deepseek', 'xai'];

/** `openai,anthropic` names two rosters, `mixed` six. */
export const rosterNames = (file: string): string[] =>
  file
    .split(',')
    .map((name) => name.trim())
    .flatMap((name) => (name === 'mixed' ? MIXED : name));
