import type { Message } from '../../../core/message.ts'
import type { RunRecord } from '../../../core/run.ts'
import type { SessionCopy } from '../../../core/session.ts'
import { citedFirst, markCited } from '../../../core/text/citations.ts'
import { formatSource, unlisted } from '../../runs/source-line.ts'
import { saidAsMarkdown } from '../../terminal/message-text.ts'

type Line = ({ type: 'session' } & Omit<SessionCopy, 'runs'>) | { type: 'run'; run: RunRecord } | { type: 'end' }

/** A line of an export as Markdown; '' for lines that people don't need. */
export function toMarkdown(line: Line): string {
  if (line.type === 'session') return headOf(line)
  return line.type === 'run' && line.run.parent_run_id === null ? turnOf(line.run) : ''
}

function headOf({ session, summary }: Omit<SessionCopy, 'runs'>): string {
  const about = [`Session \`${session.session_id}\``, `begun ${session.created_at}`, `changed ${session.updated_at}`]
  const text = summary === null || summary.content === '' ? '' : `\n${quoted(summary.content)}\n`
  return `# ${oneLine(session.name ?? session.session_id)}\n\n${about.join(', ')}.\n${text}\n`
}

function turnOf(run: RunRecord): string {
  const outcome = run.status === 'completed' ? '' : `*${oneLine(run.error?.message ?? run.status)}*\n\n`
  return run.messages.map((message) => messageOf(message, run)).join('') + outcome
}

function messageOf({ role, content, parts, created_at }: Message, { entity_id, sources }: RunRecord): string {
  const who = role === 'user' ? 'You' : oneLine(entity_id)
  const shown = role === 'user' ? [] : unlisted(citedFirst(markCited(sources, parts)), content)
  const cited = shown.map((source) => `- ${formatSource(source)}`)
  const texts = [saidAsMarkdown(parts).trim(), cited.join('\n')].filter((text) => text !== '')
  return `## ${who}, ${created_at}\n\n${texts.map((text) => `${text}\n\n`).join('')}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function quoted(text: string): string {
  return text.trim().replace(/^/gm, '> ')
}
