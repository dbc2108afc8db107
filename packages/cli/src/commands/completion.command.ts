import { Argument, type Command } from 'commander';
import { Output } from '../output';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .summary('print the completion of a shell')
    .description(
      'Prints the completion of a shell: source <(lethe completion bash), source <(lethe completion zsh), ' +
        'lethe completion fish | source.',
    )
    .addArgument(new Argument('<shell>').choices([...SHELLS]))
    .action((shell: (typeof SHELLS)[number]) => {
      new Output(false).result({}, scriptOf(shell, wordsOf(program)).trimEnd());
    });
}

/** The words that can follow each command: `keys` is followed by `list create rotate delete --json …`. */
type Words = ReadonlyMap<string, readonly string[]>;

function wordsOf(program: Command): Words {
  const words = new Map<string, readonly string[]>();
  const own = ({ options }: Command): string[] => options.flatMap(({ long }) => (long ? [long] : []));
  const common = [...own(program).filter((name) => name !== '--version'), '--help'];
  const walk = (command: Command, path: string): void => {
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    const inner = command.commands.map((each) => each.name());
    words.set(path, [
      ...inner,
      ...choices,
      ...(command === program ? ['--version'] : own(command)),
      ...common,
    ]);
    for (const each of command.commands) walk(each, `${path} ${each.name()}`.trim());
  };
  walk(program, '');
  return words;
}

function scriptOf(shell: (typeof SHELLS)[number], words: Words): string {
  const cases = [...words].map(([path, list]) => `    '${path}') next='${list.join(' ')}' ;;`).join('\n');
  const paths = [...words.keys()].filter((path) => path !== '').map((path) => `'${path}'`);
  // The command is the longest run of words that is one. `path` and `words` have a meaning of their own in zsh.
  const chosen = (all: string): string => `  local word run='' next=''
  for word in ${all}; do
    case "\${run:+$run }$word" in
      ${paths.join('|')}) run="\${run:+$run }$word" ;;
    esac
  done
  case "$run" in
${cases}
  esac`;
  switch (shell) {
    case 'bash':
      return `_lethe() {
${chosen('"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _lethe lethe
`;
    case 'zsh':
      return `#compdef lethe
_lethe() {
${chosen('"${(@)words[2,CURRENT-1]}"')}
  compadd -- \${=next}
  _files
}
compdef _lethe lethe
`;
    case 'fish':
      return fishOf(words);
  }
}

function fishOf(words: Words): string {
  const lines = [...words].map(([path, list]) => {
    const before = path === '' ? [] : path.split(' ');
    const inner = [...words.keys()]
      .map((other) => other.split(' '))
      .filter(
        (other) => other.length === before.length + 1 && other.join(' ').startsWith(`${path} `.trimStart()),
      )
      .map((other) => other.at(-1) ?? '')
      .filter((word) => word !== '');
    const conditions = before.map((word) => `__fish_seen_subcommand_from ${word}`);
    if (inner.length > 0) conditions.push(`not __fish_seen_subcommand_from ${inner.join(' ')}`);
    return `complete -c lethe -n '${conditions.join('; and ')}' -a '${list.join(' ')}'`;
  });
  return `${lines.join('\n')}\n`;
}
