// Names of the ready rosters: those of one vendor each, and the others.
export const READY = [
  'mixed',
  'groq',
  'together',
  'fireworks',
  'openrouter',
  'azure',
  'bedrock',
  'vllm',
  'ollama',
  'llamacpp',
];
export const VENDORS = ['openai', 'anthropic', 'gemini', 'mistral', 'deepseek', 'xai'];
