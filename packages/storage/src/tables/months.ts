/** A UTC month of the tables that are partitioned by month; the month named `first` has everything before them. */
export interface MonthsTable {
  name: string;
  starts_at: Date;
  ends_at: Date;
  first_poll: string;
  next_poll: string;
  polls_dropped_at: Date | null;
  webhooks_dropped_at: Date | null;
}
