import { type Static, Type } from '@sinclair/typebox';

export const SessionPath = Type.Object({ id: Type.String({ description: 'The `session_id`, `ps_...`.' }) });
export type SessionPath = Static<typeof SessionPath>;
