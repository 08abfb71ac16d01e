import type { Generated, JSONColumnType } from 'kysely';

export interface ModelEvidenceTable {
  simulated: boolean;
  version: string;
  questions: number;
  known_answers: number;
  audits: number;
  reliabilities: JSONColumnType<Record<string, { right: number; votes: number }>>;
  agreement: JSONColumnType<{ models: string[]; matrix: (number | null)[][] }>;
  created_at: Generated<Date>;
}
