export const HELP = `eloquentpoll: ask several AI models one multiple-choice question

  eloquentpoll ask "Which is larger? [The Sun, The Moon]"
  eloquentpoll result EP-2026-11-20-0123456789abcdef
  eloquentpoll history

Commands
  ask TEXT       run a poll: a question, then its options in square brackets, separated by commas
  result ID      show a result (EP-…), or wait for a poll that was begun (ps_…)
  history        list your results, newest first; takes a login (--session), no key opens it

A poll
  --option TEXT        an option, instead of the brackets; give it 2 to 10 times
  --preset NAME        broad (without it), fast or strong
  --threshold NUMBER   0 to 1: how sure the outcome must be before the poll stops early (0.95)
  --max-cost DOLLARS   the most that the poll may cost (1)
  --free               open-weight models at no cost, no key needed; at most 5 options of 50 characters
  --dry-run            check the poll and say what it would cost; nothing is run

Anywhere
  --json               the answer as JSON on standard output; errors as JSON on standard error
  --limit N, --offset N  which part of the history (20 from the newest)
  --url URL            the service; or EP_URL
  --key KEY            your API key; better in EP_KEY, where no other user of the machine reads it
  --session VALUE      value of the cookie ep_session; or EP_SESSION
  --help

On a terminal bars show the votes as they arrive. Elsewhere the result goes to standard output and a line per vote to
standard error. Ctrl-C stops watching; the poll goes on.

Exit codes
  0  there is a winner          3  there is a winner, but missing votes could have changed it
  1  a tie, or no votes         4  no credentials, bad ones, or no money
  2  something to correct       5  the service cannot be reached, is too busy, or failed
`;
