import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report } from '../launch/failure.mjs';
import { requireSpace } from '../launch/folders.mjs';
import { Household } from '../services/household.ts';
import { startTestServices, type TestServices } from './test-services.ts';

/** Runs a proof of the lab on throw-away services, which it starts only once it knows what it was asked for. */
export async function onTestServices(
  prove: (services: () => Promise<TestServices>) => Promise<number>,
): Promise<never> {
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-proof-'));
  try {
    chmodSync(folder, 0o755);
    requireSpace(folder, 500, 'a proof');
    await using household = await Household.open(folder);
    household.temporary(folder);
    process.exitCode = await prove(() => startTestServices(household, process.env));
  } catch (error) {
    report(error);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit();
}
