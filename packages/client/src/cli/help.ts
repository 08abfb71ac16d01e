export const HELP = `eloquentpoll: ask several AI models one multiple-choice question

  eloquentpoll ask "Which is larger? [The Sun, The Moon]"
  eloquentpoll result EP-2026-11-20-0123456789abcdef

Commands
  ask TEXT       run a poll: a question, then its options in square brackets, separated by commas;
                 on a terminal you are asked for what is missing
  result ID      show a result (EP-…), or wait for a poll that is running (ps_…)
  watch ID...    follow running polls (ps_…) or a batch (pb_…) to the end; without an id, all your running polls
  batch FILE     run a file of polls, JSON lines or CSV (- is standard input), and write their results beside it;
                 after an interruption, the same command or batch pb_… resumes
  eval FILE      the same for rows with right answers (gold), with a report by model, threshold and confidence
  batches        list your batches, newest first: --status, --limit, --after
  cancel ID      stop a running poll (ps_…) or batch (pb_…); votes received by then are charged
  delete ID      delete a poll (EP-…, ps_…) or a batch (pb_…) with its results, for good; --yes skips the question
  open ID        open a result in the browser
  verify ID      check the receipt of a result; signature, votes, odds and decision are recomputed here;
                 verify FILE --keys FILE needs no network
  polls          find your polls, newest first: --status, --close, --metadata, --preset, --limit, --after
  history        list your results, newest first; needs a browser login (--session)
  balance        your balance, and what you have spent
  usage          your polls and charges: --by day, key, preset, surface or metadata.NAME; --from and --to are days
  export         all data of your account as JSON lines, to --out FILE; repeat the command to resume
  keys           list your API keys; keys create LABEL, keys change ID, keys revoke ID
  login          get a key for this computer through the browser; logout revokes and removes it
  completion SHELL  completion for bash, zsh or fish: source <(eloquentpoll completion bash)

A poll
  --option TEXT        an option, instead of the brackets; give it 2 to 10 times
  --preset NAME        the panel: broad, fast or strong (default: broad)
  --models A,B,C       a custom panel: 3 to 15 model ids instead of --preset
  --panel NAME         a saved panel of the account, instead of --preset
  --threshold NUMBER   0 to 1: how certain the winner must be before the poll stops early (default: 0.95)
  --max-cost DOLLARS   the maximum cost of the poll (default: 1)
  --metadata KEY=VALUE  your own label, by which you can find the poll; can be repeated
  --reasons            ask each model for one sentence with its vote
  --idempotency-key KEY  for scripts: the same command with the same key, within 24 hours, is the same poll
  --free               open-weight models at no cost, no key needed; at most 5 options of 50 characters
  --dry-run            check the poll and estimate its cost; nothing is run

A batch
  --preset, --threshold, --reasons  for rows that do not set their own
  --max-cost DOLLARS   the maximum cost of the whole batch; rows that it does not cover are not run
  --metadata KEY=VALUE  your own label for the batch
  --skip-invalid       skip invalid rows; without it, nothing runs if a row is invalid
  --format NAME        jsonl or csv, if the name of the file does not show it
  --out FILE           the file for the results: .jsonl, .csv, or - for standard output
  --again              run the rows again; without it, the same rows with the same options are one batch
  --detach             submit the batch, print its id and end
  --yes                eval and delete do not ask for confirmation

A key
  --limit-usd DOLLARS  the maximum that polls of the key may be charged per period; none removes the limit
  --reset NAME         when a new period starts: never, daily or monthly (UTC)
  --until DAY          when the key expires, or never;  --read-only: it can only read;  --label TEXT

Anywhere
  --json               print the answer as JSON on standard output, errors as JSON on standard error
  --status NAME, --close, --after ID  for polls: running, completed or failed; close calls; older than a poll
                       batches are running, canceling, completed, canceled or expired, and --after takes a batch
  --limit N, --offset N  how many polls, batches or results are listed (default: 20); results of history to pass over
  --keys FILE, --days FILE  for verify: saved copies of the service's /.well-known/jwks.json and /api/receipts/days
  --no-browser         login prints the address instead of opening it
  --url URL            the address of the service; or EP_URL
  --key KEY            your API key; prefer login or EP_KEY, which other users of the machine can't see
  --session VALUE      value of the cookie ep_session; or EP_SESSION
  --version, --help

On a terminal, bars show the votes as they arrive. Otherwise the result goes to standard output, with the outcome on its
first line, and a line per vote to standard error. Ctrl-C stops watching; the poll continues.

Exit codes
  0  there is a winner          3  there is a winner, but missing votes could have changed it
  1  a tie, or no votes         4  missing or wrong credentials, or not enough money
  2  wrong input                5  the service cannot be reached, is too busy, or failed
                                6  a receipt is not valid           70  an error of this program
                                                                   130  it was interrupted
For a batch: 0 if all rows have an answer, 3 if some have or the report is not complete, 1 if none has
`;
