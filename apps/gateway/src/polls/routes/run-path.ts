import { type Static, Type } from '@sinclair/typebox';

export const RunPath = Type.Object({ id: Type.String({ description: 'The `session_id`, `ps_...`.' }) });
export type RunPath = Static<typeof RunPath>;
