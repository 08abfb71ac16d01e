import { createHash } from 'node:crypto';
import type { Facts } from './facts.ts';
import { skillDescription } from './skill.ts';
import { SKILL_NAME, SKILL_PATH } from './skill-paths.ts';

/** The skills index (agent skills discovery 0.2.0): each skill with the digest of the served bytes. */
export const skillsIndex = (facts: Facts, skill: string): Record<string, unknown> => ({
  $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
  skills: [
    {
      name: SKILL_NAME,
      type: 'skill-md',
      description: skillDescription(facts),
      url: SKILL_PATH,
      digest: `sha256:${createHash('sha256').update(skill).digest('hex')}`,
    },
  ],
});
