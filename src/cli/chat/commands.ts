import { createId } from '../../core/id.ts'
import { writeNewFile } from '../../runtime/whole-file.ts'
import { toWriteError } from '../command/file-error.ts'
import { plainLine } from '../markdown/plain-line.ts'
import { saidAsMarkdown } from '../terminal/message-text.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { localTime } from '../terminal/when.ts'
import type { Conversation } from './conversation.ts'
import { chatKeys } from './keys.ts'
import type { Completer } from './line/complete.ts'
import { showAllowed, showSources, showWhy, takeModel } from './run-commands.ts'
import { describeAttachment, readAttachment, unquoted } from './turn/attachment.ts'

interface ChatCommand {
  usage: string
  about: string
  run(conversation: Conversation, argument: string): Promise<void> | void
}

const commands: Record<string, ChatCommand> = {
  new: { usage: '/new', about: 'start a new session', run: beginAnew },
  sessions: { usage: '/sessions', about: 'list the latest sessions', run: listSessions },
  switch: { usage: '/switch <number or id>', about: 'switch to another session', run: switchTo },
  agent: {
    usage: '/agent [id]',
    about: 'list the agents, or continue this session with another agent',
    run: takeAgent,
  },
  model: { usage: '/model [model]', about: 'show the model, or answer again with another one', run: takeModel },
  why: { usage: '/why', about: 'show why these passages: the searches of the last answer', run: showWhy },
  always: { usage: '/always [off]', about: 'show the tools that are always allowed, or ask again', run: showAllowed },
  attach: { usage: '/attach [file or address]', about: 'send a file with your next message', run: attach },
  detach: { usage: '/detach', about: 'send your next message without files', run: detach },
  summary: { usage: '/summary', about: 'summarise the session', run: summarise },
  sources: { usage: '/sources', about: 'show the sources of the last answer', run: showSources },
  save: { usage: '/save [file]', about: 'write the conversation to a Markdown file', run: save },
  clear: { usage: '/clear', about: 'clear the screen', run: (conversation) => conversation.onClear?.() },
  help: { usage: '/help', about: 'show this help', run: help },
}

export function chatCommands(): Pick<ChatCommand, 'usage' | 'about'>[] {
  return Object.values(commands)
}

/** The name of the command that a line calls, known or not. `/etc/hosts` is not a command. */
export function commandIn(line: string): string | undefined {
  return /^\/([a-z]+)(?:\s|$)/.exec(line)?.[1]
}

export async function runCommand(conversation: Conversation, line: string): Promise<void> {
  const name = commandIn(line) ?? ''
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) conversation.note(`Unknown command /${name}. /help lists the commands.`)
  else await command.run(conversation, line.slice(name.length + 1).trim())
}

function beginAnew(conversation: Conversation): void {
  conversation.sessionId = createId('ses')
  conversation.begun = false
  conversation.forgetTurn()
  conversation.note('Started a new session.')
}

async function attach(conversation: Conversation, argument: string): Promise<void> {
  const { attached } = conversation
  if (argument !== '') conversation.attached = [...attached, await readAttachment(unquoted(argument))]
  const shown = conversation.attached.map(describeAttachment)
  if (shown.length === 0) conversation.note('Your next message has no files. /attach <file> adds one.')
  else conversation.note(['Your next message has:', ...shown].join('\n'))
}

function detach(conversation: Conversation): void {
  conversation.attached = []
  conversation.note('Your next message has no files.')
}

async function latest({ client }: Conversation) {
  return (await client.sessions.list({ view: 'head' }, { limit: 10 })).sessions
}

async function listSessions(conversation: Conversation): Promise<void> {
  const sessions = await latest(conversation)
  if (sessions.length === 0) return conversation.note('No sessions yet.')
  const lines = sessions.map((session, place) => {
    const owner = session.entity_id ?? '-'
    const name = session.name ?? (plainLine(session.title ?? '') || session.session_id)
    const here = session.session_id === conversation.sessionId ? '  (this one)' : ''
    const when = localTime(session.updated_at).slice(0, 16)
    const runs = `${session.run_count} ${session.run_count === 1 ? 'run' : 'runs'}`
    return `${place + 1}  ${terminalLine(`${when} · ${owner} · ${runs} · ${name}`)}${here}`
  })
  conversation.note([...lines, '/switch <number> continues one of them.'].join('\n'))
}

async function switchTo(conversation: Conversation, argument: string): Promise<void> {
  const number = /^\d{1,2}$/.test(argument) ? Number(argument) : undefined
  const sessionId = number === undefined ? argument : (await latest(conversation))[number - 1]?.session_id
  if (sessionId === undefined || sessionId === '') return conversation.note('Name a session. /sessions lists them.')
  const session = await conversation.client.sessions.get(sessionId)
  conversation.sessionId = session.session_id
  conversation.begun = true
  conversation.forgetTurn()
  conversation.note(`Session ${terminalLine(session.session_id)}`)
  await conversation.showHistory()
}

async function takeAgent(conversation: Conversation, argument: string): Promise<void> {
  if (argument === '') {
    const { agents } = await conversation.client.agents.list()
    const lines = agents.map(({ id, kind, description }) =>
      terminalLine(`${id} · ${kind}${description === null ? '' : ` · ${description}`}`),
    )
    return conversation.note(lines.join('\n'))
  }
  const agent = await conversation.client.agents.get(argument)
  conversation.agentId = agent.id
  conversation.kind = agent.kind
  conversation.note(`You are now talking to ${terminalLine(agent.id)}.`)
  await conversation.meet()
}

async function summarise(conversation: Conversation): Promise<void> {
  if (!conversation.begun) return conversation.note('This session has no messages yet.')
  conversation.note('Summarising…')
  const { content } = await conversation.client.sessions.summary.generate(conversation.sessionId)
  conversation.screen.say('markdown', terminalText(content))
}

async function save(conversation: Conversation, argument: string): Promise<void> {
  const { client, sessionId, begun } = conversation
  if (!begun) return conversation.note('This session has no messages yet.')
  const { messages, has_more } = await client.sessions.history(sessionId, { interactions: 1000 })
  const file = argument === '' ? `${sessionId.replaceAll(':', '-')}.md` : argument
  const text = messages.map(
    ({ role, parts }) => `## ${role === 'user' ? 'You' : 'Answer'}\n\n${saidAsMarkdown(parts).trim()}\n`,
  )
  try {
    await writeNewFile(file, `# Session ${sessionId}\n\n${text.join('\n')}`)
  } catch (error) {
    throw toWriteError(error, terminalLine(file))
  }
  conversation.note(
    `Saved ${has_more ? 'the latest 1000 messages and answers' : 'the conversation'} to ${terminalLine(file)}.`,
  )
}

function help(conversation: Conversation): void {
  const shown = Object.values(commands)
  const width = Math.max(...shown.map(({ usage }) => usage.length))
  const keyWidth = Math.max(...chatKeys.map(([keys]) => keys.length))
  const lines = [
    ...shown.map(({ usage, about }) => `${usage.padEnd(width)}  ${about}`),
    '',
    ...chatKeys.map(([keys, about]) => `${keys.padEnd(keyWidth)}  ${about}`),
    '',
    '@file or @"a file" in a message sends that file with it.',
  ]
  conversation.note(lines.join('\n'))
}

/** What Tab can make of a word. */
export function completerOf(conversation: Conversation): Completer {
  const { client } = conversation
  const agents = async () => (await client.agents.list()).agents
  return {
    commands: Object.keys(commands).map((name) => `/${name}`),
    argumentsOf(command) {
      if (command === '/attach' || command === '/save') return 'files'
      if (command === '/agent') return agents().then((all) => all.map(({ id }) => id))
      if (command === '/switch') return latest(conversation).then((all) => all.map(({ session_id: id }) => id))
      if (command === '/model')
        return agents().then((all) => [...new Set(all.flatMap(({ model }) => (model === null ? [] : [model])))])
      return command === '/always' ? Promise.resolve(['off']) : undefined
    },
  }
}
