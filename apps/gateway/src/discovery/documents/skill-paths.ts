// The paths where agents look for skills and instructions, as the contract lists them. The router decodes `%7E` to `~`,
// so each path that begins with `~` covers both spellings.

export const SKILL_NAME = 'prevent-hallucinations-with-a-quick-poll';

/** The path in the skills index; the other paths serve the same bytes. */
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
