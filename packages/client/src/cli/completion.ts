import { COMMANDS, KEY_ACTIONS, OPTIONS, PRESETS, RESETS, SHELLS } from './command-line.ts';

// One script per shell, which completes commands, options and some of their arguments.

const commands = Object.keys(COMMANDS).join(' ');
const options = Object.keys(OPTIONS).map((name) => `--${name}`);

const WORDS: Readonly<Record<string, readonly string[]>> = {
  '--preset': PRESETS,
  '--format': ['jsonl', 'csv'],
  '--by': ['day', 'key', 'preset', 'surface', 'metadata.'],
  '--reset': RESETS,
  completion: SHELLS,
  keys: KEY_ACTIONS,
};

const BASH = `_eloquentpoll() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${Object.entries(WORDS)
  .map(([after, words]) => `    ${after}) words="${words.join(' ')}" ;;`)
  .join('\n')}
    *) if [ "$COMP_CWORD" -eq 1 ]; then words="${commands} ${options.join(' ')}"; else words="${options.join(' ')}"; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _eloquentpoll eloquentpoll
`;

const ZSH = `#compdef eloquentpoll
_eloquentpoll() {
  local -a commands
  commands=(
${Object.entries(COMMANDS)
  .map(([name, what]) => `    '${name}:${what}'`)
  .join('\n')}
  )
  case "\${words[CURRENT-1]}" in
${Object.entries(WORDS)
  .map(([after, words]) => `    ${after}) compadd ${words.join(' ')}; return ;;`)
  .join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then compadd -- ${options.join(' ')}
  elif (( CURRENT == 2 )); then _describe command commands
  fi
}
compdef _eloquentpoll eloquentpoll
`;

const FISH = `complete -c eloquentpoll -f
${Object.entries(COMMANDS)
  .map(([name, what]) => `complete -c eloquentpoll -n __fish_use_subcommand -a ${name} -d '${what}'`)
  .join('\n')}
${Object.entries(OPTIONS)
  .map(([name, { type }]) => {
    const words = WORDS[`--${name}`];
    const value = type === 'string' ? ` -x${words ? ` -a '${words.join(' ')}'` : ''}` : '';
    return `complete -c eloquentpoll -l ${name}${value}`;
  })
  .join('\n')}
complete -c eloquentpoll -n '__fish_seen_subcommand_from completion' -a '${SHELLS.join(' ')}'
complete -c eloquentpoll -n '__fish_seen_subcommand_from keys' -a '${KEY_ACTIONS.join(' ')}'
`;

export const COMPLETION: Readonly<Record<(typeof SHELLS)[number], string>> = { bash: BASH, zsh: ZSH, fish: FISH };
