export const HELP = `eloquentpoll: ask several AI models one multiple-choice question

  eloquentpoll ask "Which is larger? [The Sun, The Moon]"
  eloquentpoll result EP-2026-11-20-0123456789abcdef

Commands
  ask TEXT       run a poll: a question, then its options in square brackets, separated by commas;
                 on a terminal you are asked for what is missing
  result ID      show a result (EP-…), or wait for a poll that is running (ps_…)
  watch ID...    follow running polls (ps_…) or a batch (pb_…) to the end; without an id all polls of yours that run
  batch FILE     run a file of polls, JSON lines or CSV (- is standard input), and write their results beside it;
                 interrupted, the same command goes on where it was, as does batch pb_…
  eval FILE      the same for rows with right answers (gold): how often it was right, by model, threshold, confidence
  batches        list your batches, newest first: --status, --limit, --after
  cancel ID      stop a running poll (ps_…) or batch (pb_…); the votes that were given are charged
  delete ID      delete a poll (EP-…, ps_…) or a batch (pb_…) with its results, for good; --yes does not ask
  open ID        open a result in the browser
  verify ID      check the receipt of a result: signature, votes, odds and decision are worked out here;
                 verify FILE --keys FILE needs no network
  polls          find polls of yours, newest first: --status, --close, --metadata, --preset, --limit, --after
  history        list your results, newest first; needs a browser login (--session)
  balance        what you can spend, and have spent
  usage          what you asked and were charged: --by day, key, preset, surface or metadata.NAME; --from and --to are days
  export         everything of your account as JSON lines, to --out FILE, which a repeated export completes
  keys           list your API keys; keys create LABEL, keys change ID, keys revoke ID
  login          get a key for this computer, in the browser; logout revokes and removes it
  completion SHELL  completion for bash, zsh or fish: source <(eloquentpoll completion bash)

A poll
  --option TEXT        an option, instead of the brackets; give it 2 to 10 times
  --preset NAME        the panel: broad, fast or strong (default: broad)
  --models A,B,C       the panel, model by model: 3 to 15 ids instead of --preset
  --panel NAME         a panel that the account saved, instead of --preset
  --threshold NUMBER   0 to 1: how certain the winner must be before the poll stops early (default: 0.95)
  --max-cost DOLLARS   the most that the poll may cost (default: 1)
  --metadata KEY=VALUE  a label of your own, which you can find the poll by; repeat it for more
  --reasons            ask each model for one sentence with its vote
  --free               open-weight models at no cost, no key needed; at most 5 options of 50 characters
  --dry-run            check the poll and say what it would cost; nothing is run

A batch
  --preset, --threshold, --reasons  of rows that do not say
  --max-cost DOLLARS   the most that the whole batch may cost; rows that it does not cover are not run
  --metadata KEY=VALUE  a label of your own, of the batch
  --skip-invalid       leave out rows that are invalid; without it nothing runs if one is
  --format NAME        jsonl or csv, where the name of the file does not say
  --out FILE           where the results go: .jsonl, .csv, or - for standard output
  --again              ask anew what was asked before; without it the same rows with the same options are one batch
  --detach             hand it over and print its id
  --yes                eval does not ask whether to go on, nor does delete

A key
  --limit-usd DOLLARS  the most that its polls may be charged per period; none takes the limit away
  --reset NAME         when that is counted from zero again: never, daily or monthly (UTC)
  --until DAY          when it ends, or never;  --read-only: it can neither ask nor change anything;  --label TEXT

Anywhere
  --json               the answer as JSON on standard output; errors as JSON on standard error
  --status NAME, --close, --after ID  for polls: running, completed or failed ones; close calls; older than a poll
  --limit N, --offset N  which part of the history (default: the newest 20)
  --keys FILE, --days FILE  for verify: the service's /.well-known/jwks.json and /api/receipts/days, kept as files
  --no-browser         login prints the address instead of opening it
  --url URL            the service; or EP_URL
  --key KEY            your API key; prefer login or EP_KEY, which other users of the machine can't see
  --session VALUE      value of the cookie ep_session; or EP_SESSION
  --version, --help

On a terminal bars show the votes as they arrive. Elsewhere the result goes to standard output, its first line is the
outcome, and a line per vote goes to standard error. Ctrl-C stops watching; the poll goes on.

Exit codes
  0  there is a winner          3  there is a winner, but missing votes could have changed it
  1  a tie, or no votes         4  no credentials, bad ones, or no money
  2  something to correct       5  the service cannot be reached, is too busy, or failed
                                6  a receipt does not hold          70  an error of this program
`;
