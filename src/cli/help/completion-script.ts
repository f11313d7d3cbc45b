import type { Command, Option } from 'commander'
import { type IdKind, idArguments, idFlags } from './completed-ids.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands)
}

function choicesOf(command: Command): string[] {
  const [first] = command.registeredArguments
  return first?.argChoices ?? []
}

function flagsOf({ options }: Command): string[] {
  return [...options.flatMap(({ short, long }) => [short, long]), '--help'].filter((flag) => flag !== undefined)
}

/** `pattern|pattern) kind=… ;;` for each kind of id. */
function kindCases(kinds: Readonly<Record<string, IdKind>>): string[] {
  const byKind = Map.groupBy(Object.entries(kinds), ([, kind]) => kind)
  return [...byKind].map(([kind, names]) => `${names.map(([name]) => `'${name}'`).join('|')}) kind=${kind} ;;`)
}

const firstArguments = Object.fromEntries(Object.entries(idArguments).filter(([words]) => !words.includes(' ')))
const laterArguments = Object.fromEntries(Object.entries(idArguments).filter(([words]) => words.includes(' ')))

// Ids are data: they are quoted, and never given to `compgen -W`, which expands them.
function bash(commands: readonly Command[]): string {
  const flagCases = commands.flatMap((command) =>
    command.options
      .filter(({ argChoices }) => argChoices !== undefined)
      .map(({ long, argChoices }) => `    '${command.name()} ${long}') words='${argChoices?.join(' ')}' ;;`),
  )
  const cases = commands.map(
    (command) => `      ${command.name()}) words='${[...choicesOf(command), ...flagsOf(command)].join(' ')}' ;;`,
  )
  return `_agentserve_ids() {
  local program="\${COMP_WORDS[0]}" id
  if ! type -P "$program" >/dev/null; then
    alias "$program" >/dev/null 2>&1 || return
    program=./node_modules/.bin/agentserve
  fi
  while IFS= read -r id; do
    if [[ $id == "$2"* ]]; then COMPREPLY+=("$(printf '%q' "$id")"); fi
  done < <("$program" completion ids "$1" 2>/dev/null </dev/null)
}
_agentserve() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words='' kind=''
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${kindCases(idFlags).join('\n    ')}
  esac
  if [[ -z $kind && $current != -* ]]; then
    if [ "$COMP_CWORD" -ge 3 ]; then case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
      ${kindCases(laterArguments).join('\n      ')}
    esac; fi
    if [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in
      ${kindCases(firstArguments).join('\n      ')}
    esac; fi
  fi
  if [ -n "$kind" ]; then _agentserve_ids "$kind" "$current"; return; fi
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
    const kind = idFlags[long ?? '']
    const values = argChoices === undefined ? '_files' : `(${argChoices.join(' ')})`
    const value = !required && !optional ? '' : `:value:${kind === undefined ? values : `_agentserve_${kind}`}`
    const explained = description.replace(/[[\]:\\]/g, '\\$&')
    return [short, long].flatMap((name) => (name === undefined ? [] : [quoted(`${name}[${explained}]${value}`)]))
  }
  const cases = commands.map((command) => {
    const choices = choicesOf(command)
    const kind = idArguments[command.name()]
    const first = choices.length > 0 ? `'1:what:(${choices.join(' ')})' ` : kind ? `'1:id:_agentserve_${kind}' ` : ''
    const rest = `'*:id or file:_agentserve_rest'`
    return `    ${command.name()}) _arguments ${[...command.options.flatMap(flag), first + rest].join(' ')} ;;`
  })
  const kinds = [...new Set([...Object.values(idFlags), ...Object.values(idArguments)])]
  return `#compdef agentserve
_agentserve_ids() {
  local program=$_agentserve_program
  if ! whence -p -- $program >/dev/null; then
    (( $+aliases[$program] )) || return 1
    program=./node_modules/.bin/agentserve
  fi
  local -a ids=(\${(f)"$($program completion ids $1 2>/dev/null </dev/null)"})
  compadd -a ids
}
${kinds.map((kind) => `_agentserve_${kind}() { _agentserve_ids ${kind} }`).join('\n')}
_agentserve_rest() {
  local kind=
  case "$words[1] $words[2]" in
    ${kindCases(laterArguments).join('\n    ')}
  esac
  if [[ -n $kind ]]; then _agentserve_ids $kind; else _files; fi
}
_agentserve() {
  local _agentserve_program=$words[1]
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
  const ids = (kind: IdKind) => quoted(`(__agentserve_ids ${kind})`)
  const actions = Object.entries(laterArguments).map(([words, kind]) => {
    const [command, action] = words.split(' ')
    return `complete -c agentserve -f -n '__fish_seen_subcommand_from ${command}; and __fish_seen_subcommand_from ${action}' -a ${ids(kind)}`
  })
  const lines = commands.flatMap((command) => {
    const within = `complete -c agentserve -n '__fish_seen_subcommand_from ${command.name()}'`
    const choices = choicesOf(command)
    const kind = idArguments[command.name()]
    const none = `complete -c agentserve -f -n '__fish_seen_subcommand_from ${command.name()}; and not __fish_seen_subcommand_from ${choices.join(' ')}'`
    return [
      `complete -c agentserve -f -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.summary())}`,
      ...(choices.length === 0 ? [] : [`${none} -a ${quoted(choices.join(' '))}`]),
      ...(kind === undefined ? [] : [`${within} -f -a ${ids(kind)}`]),
      ...command.options.map(({ short, long, description, required, optional, argChoices }) => {
        const named = idFlags[long ?? '']
        const values = argChoices === undefined ? undefined : quoted(argChoices.join(' '))
        const offered = named === undefined ? values : ids(named)
        return [
          within,
          ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
          ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
          ...(required || optional ? ['-r'] : []),
          ...(named === undefined ? [] : ['-f']),
          ...(offered === undefined ? [] : [`-a ${offered}`]),
          `-d ${quoted(description)}`,
        ].join(' ')
      }),
    ]
  })
  return `function __agentserve_ids
  set -l program (commandline -opc)[1]
  if not command -sq $program
    functions -q $program; or return
    set program ./node_modules/.bin/agentserve
  end
  command $program completion ids $argv[1] 2>/dev/null </dev/null
end
${[...lines, ...actions].join('\n')}
`
}
