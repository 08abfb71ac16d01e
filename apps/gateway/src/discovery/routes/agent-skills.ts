import type { FastifyInstance } from 'fastify';
import { instructionFiles } from '../documents/agent-instructions.ts';
import type { Facts } from '../documents/facts.ts';
import { skill } from '../documents/skill.ts';
import { SKILL_MIRRORS, SKILL_NAME, SKILL_PATH } from '../documents/skill-paths.ts';
import { skillsIndex } from '../documents/skills-index.ts';
import { serveDocument } from '../serve-document.ts';

// The skill at every path where an agent may look for it, the instruction files, and the index with the skill's digest.
// Paths and texts are fixed and in memory: no path of a request ever reaches a file system.

export function agentSkillRoutes(app: FastifyInstance, facts: Facts): void {
  const text = skill(facts);
  serveDocument(app, {
    path: '/.well-known/agent-skills/index.json',
    operationId: 'getSkillsIndex',
    tag: 'Files',
    summary: 'List skills',
    mediaType: 'application/json',
    body: () => JSON.stringify(skillsIndex(facts, text)),
  });

  for (const path of [SKILL_PATH, ...SKILL_MIRRORS]) {
    serveDocument(app, {
      path,
      operationId: `getFile${camelCased(path)}`,
      tag: 'Files',
      summary: path === SKILL_PATH ? `Get the skill ${SKILL_NAME}` : 'Get the skill (path for other agents)',
      mediaType: 'text/markdown',
      body: () => text,
    });
  }

  for (const [name, instructions] of instructionFiles(facts)) {
    const path = `/~/${name}`;
    serveDocument(app, {
      path,
      operationId: `getFile${camelCased(path)}`,
      tag: 'Files',
      summary: `Get the instruction file ${name}`,
      mediaType: 'text/markdown',
      body: () => instructions,
    });
  }
}

const camelCased = (path: string): string =>
  path
    .replace('~', 'home')
    .split(/\W+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
