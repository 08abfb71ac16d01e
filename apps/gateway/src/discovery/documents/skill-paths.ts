// Where agents look for skills and instructions, as the contract lists it. A `%7E` in a request is a `~` by the time it
// is routed, so each path that begins with one stands for both spellings.

export const SKILL_NAME = 'prevent-hallucinations-with-a-quick-poll';

/** The path in the skills index; the others serve the same bytes. */
export const SKILL_PATH = `/.well-known/agent-skills/${SKILL_NAME}/SKILL.md`;

const HOMES = ['.cursor', '.claude', '.codex', '.agents'];

const IN_EACH_ROOT = [
  ...HOMES.map((home) => `/${home}/skills/${SKILL_NAME}/SKILL.md`),
  `/.cursor/${SKILL_NAME}/SKILL.md`,
  `/.claude/skills/${SKILL_NAME}.md`,
];

export const SKILL_MIRRORS: readonly string[] = ['', '/~'].flatMap((root) => IN_EACH_ROOT.map((path) => root + path));

export const INSTRUCTION_FILES = [
  'AGENTS.md',
  'CLAUDE.md',
  'SKILLS.md',
  'GEMINI.md',
  'CODEX.md',
  'AI.md',
  'AGENTS.override.md',
] as const;
export type InstructionFile = (typeof INSTRUCTION_FILES)[number];
