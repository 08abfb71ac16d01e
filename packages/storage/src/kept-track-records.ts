import { type AuditState, certificatesOf, recordOf, soundState } from '@eloquentpoll/evidence';
import type { Certificates, TrackRecord } from '@eloquentpoll/voting';
import type { Queries } from './open-storage.ts';
import type { RosterVersion } from './roster-versions.ts';
import { readTrackRecord } from './track-records.ts';

// Track records cached by a process. Every poll needs one and they change slowly, so a record that is some minutes old
// is good enough; a read is awaited only if there is nothing to use meanwhile.

export interface TrackRecords {
  /** Null if there is none, if it could not be read for too long, or if the stored record is invalid. */
  of(version: string): Promise<KnownTrackRecord | null>;
}

export interface KnownTrackRecord {
  roster: RosterVersion;
  audits: number;
  certificates: Certificates;
  record: TrackRecord;
  updatedAt: Date;
}

export interface KeepingRules {
  /** Read again after this time. */
  freshMs?: number;
  /** Not used after this time without a successful read. */
  maxAgeMs?: number;
  now?: () => number;
  onError?: (error: unknown) => void;
}

/** Roster versions of which polls may still run; the least recently used one is dropped. */
const MAX_KEPT = 64;

interface Kept {
  known: KnownTrackRecord | null;
  readAt: number;
  reading: Promise<void> | null;
}

export function keepTrackRecords(queries: Queries, rules: KeepingRules = {}): TrackRecords {
  const { freshMs = 60_000, maxAgeMs = 600_000, now = () => performance.now(), onError = () => {} } = rules;
  const kept = new Map<string, Kept>();

  function entryOf(version: string): Kept {
    const entry = kept.get(version) ?? { known: null, readAt: Number.NEGATIVE_INFINITY, reading: null };
    kept.delete(version);
    kept.set(version, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry;
  }

  async function read(version: string, entry: Kept): Promise<void> {
    try {
      const stored = await readTrackRecord(queries, version);
      entry.known = stored && known(stored);
      entry.readAt = now();
    } catch (error) {
      onError(error);
    } finally {
      entry.reading = null;
    }
  }

  return {
    async of(version) {
      const entry = entryOf(version);
      if (now() - entry.readAt > freshMs) entry.reading ??= read(version, entry);
      if (now() - entry.readAt > maxAgeMs) await entry.reading;
      return now() - entry.readAt > maxAgeMs ? null : entry.known;
    },
  };
}

type Stored = NonNullable<Awaited<ReturnType<typeof readTrackRecord>>>;

function known({ roster, audits, state, updatedAt }: Stored): KnownTrackRecord | null {
  const sound: AuditState | null = soundState(state);
  if (sound === null) return null;
  const record = recordOf(sound, roster.models.length);
  return { roster, audits, certificates: certificatesOf(sound), record, updatedAt };
}
