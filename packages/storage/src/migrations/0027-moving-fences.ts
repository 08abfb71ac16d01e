import type { Migration } from './migration.ts';

// What workers and other accounts delete is no change of an account that moves: feedback goes with its poll, and batches go
// when their time is over. Refusing it stopped the emptying and pruning of the whole cell. Replacing a trigger, unlike
// dropping it, lets readers go on.
export const movingFences: Migration = {
  name: '0027-moving-fences',
  sql: () => `
create or replace trigger feedback_moving before insert or update on feedback
  for each row execute function refuse_while_moving('account_id');

-- An upload that is given up may be dropped at any time: the account does not leave before.
create or replace trigger batches_moving before insert on batches
  for each row execute function refuse_while_moving('account_id');
create or replace trigger batches_deleted_moving before update of status on batches
  for each row when (new.status = 'deleted' and old.status <> 'loading' and (old.keep_until is null or old.keep_until > now()))
  execute function refuse_while_moving('account_id');
`,
};
