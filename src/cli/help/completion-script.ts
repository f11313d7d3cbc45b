import type { Command, Option } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands)
}

function choicesOf(command: Command): string[] {
  return command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
}

function flagsOf({ options }: Command): string[] {
  return [...options.flatMap(({ short, long }) => [short, long]), '--help'].filter((flag) => flag !== undefined)
}

function bash(commands: readonly Command[]): string {
  const flagCases = commands.flatMap((command) =>
    command.options
      .filter(({ argChoices }) => argChoices !== undefined)
      .map(({ long, argChoices }) => `    '${command.name()} ${long}') words='${argChoices?.join(' ')}' ;;`),
  )
  const cases = commands.map(
    (command) => `      ${command.name()}) words='${[...choicesOf(command), ...flagsOf(command)].join(' ')}' ;;`,
  )
  return `_agentserve() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=''
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${flagCases.join('\n')}
    *) if [ "$COMP_CWORD" -eq 1 ]; then words='${[...commands.map((command) => command.name()), 'help'].join(' ')}'
    else case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
      help) words='${commands.map((command) => command.name()).join(' ')}' ;;
    esac; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _agentserve agentserve
`
}

function zsh(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replace(/'/g, "'\\''")}'`
  const described = (name: string, text: string) => quoted(`${name}:${text}`)
  const flag = ({ short, long, description, required, optional, argChoices }: Option) => {
    const value =
      !required && !optional ? '' : argChoices === undefined ? ':value:_files' : `:value:(${argChoices.join(' ')})`
    const explained = description.replace(/[[\]:\\]/g, '\\$&')
    return [short, long].flatMap((name) => (name === undefined ? [] : [quoted(`${name}[${explained}]${value}`)]))
  }
  const cases = commands.map((command) => {
    const choices = choicesOf(command)
    const words = choices.length === 0 ? "'*:file:_files'" : `'1:what:(${choices.join(' ')})' '*:file:_files'`
    return `    ${command.name()}) _arguments ${[...command.options.flatMap(flag), words].join(' ')} ;;`
  })
  return `#compdef agentserve
_agentserve() {
  if (( CURRENT == 2 )); then
    local -a names=(${commands.map((command) => described(command.name(), command.summary())).join(' ')})
    _describe command names
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _agentserve ]; then _agentserve "$@"; else compdef _agentserve agentserve; fi
`
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
  const lines = commands.flatMap((command) => {
    const within = `complete -c agentserve -n '__fish_seen_subcommand_from ${command.name()}'`
    const choices = choicesOf(command)
    return [
      `complete -c agentserve -f -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.summary())}`,
      ...(choices.length === 0 ? [] : [`${within} -f -a ${quoted(choices.join(' '))}`]),
      ...command.options.map(({ short, long, description, required, optional, argChoices }) =>
        [
          within,
          ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
          ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
          ...(required || optional ? ['-r'] : []),
          ...(argChoices === undefined ? [] : [`-a ${quoted(argChoices.join(' '))}`]),
          `-d ${quoted(description)}`,
        ].join(' '),
      ),
    ]
  })
  return `${lines.join('\n')}\n`
}
