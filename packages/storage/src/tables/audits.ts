import type { PanelName, TerminationReason } from '@eloquentpoll/contracts';
import type { SaidTally } from '@eloquentpoll/evidence';
import type { AskingOrder } from '@eloquentpoll/voting';
import type { Generated, JSONColumnType } from 'kysely';

export interface RosterVersionsTable {
  version: string;
  panel_name: PanelName;
  asking_order: AskingOrder;
  search: boolean;
  simulated: boolean;
  models: string[];
  families: string[];
  created_at: Generated<Date>;
}

export interface AuditJobsTable {
  poll_id: string;
  roster_version: string;
  heard: JSONColumnType<object>;
  max_u: bigint;
  panel_u: Generated<bigint>;
  needs_votes: Generated<boolean>;
  lease_owner: string | null;
  lease_epoch: Generated<number>;
  lease_until: Generated<Date>;
  held_at: Date | null;
  spend_shard: number | null;
  created_at: Generated<Date>;
}

export interface AuditsTable {
  id: Generated<bigint>;
  poll_id: string;
  roster_version: string;
  asked_order: AskingOrder;
  threshold: number;
  option_count: number;
  seats: number[];
  votes: (number | null)[];
  said: (number | null)[];
  stopped_at: number;
  reason: TerminationReason | null;
  winner: number | null;
  cost_u: Generated<bigint>;
  learned: Generated<boolean>;
  counted: Generated<boolean>;
  created_at: Generated<Date>;
}

export interface TrackRecordsTable {
  roster_version: string;
  audits: Generated<number>;
  learned: Generated<number>;
  state: JSONColumnType<object>;
  updated_at: Generated<Date>;
}

export interface AuditMonthsTable {
  roster_version: string;
  asked_order: AskingOrder;
  month: string;
  tally: JSONColumnType<SaidTally>;
  unmade: Generated<number>;
}

export interface AuditDrawsTable {
  roster_version: string;
  question: Buffer | null;
  tenant: string;
  poll_id: string | null;
  drawn_at: Generated<Date>;
}
