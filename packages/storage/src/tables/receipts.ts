import type { Generated } from 'kysely';

export interface ReceiptLeavesTable {
  day: string;
  leaf: Buffer;
}

export interface ReceiptPagesTable {
  day: string;
  level: number;
  page: number;
  first: Buffer;
  hashes: Buffer;
}

export interface ReceiptDaysTable {
  day: string;
  receipts: number;
  root: Buffer;
  seal: Buffer;
  sealed_at: Generated<Date>;
}
