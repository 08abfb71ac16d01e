import { accounts } from './0001-accounts.ts';
import { ledger } from './0002-ledger.ts';
import { polls } from './0003-polls.ts';
import { payments } from './0004-payments.ts';
import { pollLife } from './0005-poll-life.ts';
import { checkLedger } from './0006-check-ledger.ts';
import { exactDetail } from './0007-exact-detail.ts';
import { challengeAskers } from './0008-challenge-askers.ts';
import { paymentsInLine } from './0009-payments-in-line.ts';
import { operating } from './0010-operating.ts';
import type { Migration } from './migration.ts';

/** In the order in which they are applied. New ones go to the end. */
export const migrations: readonly Migration[] = [
  accounts,
  ledger,
  polls,
  payments,
  pollLife,
  checkLedger,
  exactDetail,
  challengeAskers,
  paymentsInLine,
  operating,
];
