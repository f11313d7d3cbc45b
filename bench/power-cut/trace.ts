import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/*
 * What a traced process did to the files of one database, and what it sent over sockets. The trace is strace's with
 * `straceArgs`: every string is in hex, so neither names nor data can be taken for its syntax.
 */

/** Where in the trace a call began and returned; `Infinity` when it never did. */
interface Span {
  begin: number
  end: number
}
export type Step = Span &
  (
    | { kind: 'open'; path: string; fd: number }
    | { kind: 'write'; path: string; fd: number; offset: number; data: Buffer }
    | { kind: 'truncate'; path: string; fd: number; size: number }
    | { kind: 'sync'; path: string; fd: number }
    | { kind: 'unlink'; path: string }
    | { kind: 'send'; text: string }
  )

const sends = ['write', 'writev', 'sendmsg', 'sendto']
const known = ['openat', 'pwrite64', 'ftruncate', 'fsync', 'fdatasync', 'unlink', 'unlinkat']
/** What a database could also be changed with, but is not: met on its files, the replay gives up. */
const others = [
  ...['open', 'creat', 'pwritev', 'pwritev2', 'truncate', 'fallocate', 'copy_file_range', 'sendfile'],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat'],
]

/** `-D`: the process that is started is the program, not strace. `-A`: a trace goes on with the next process. */
export function straceArgs(traceFile: string): string[] {
  const calls = [...sends, ...known, ...others].join(',')
  return ['-D', '-A', '-f', '-y', '-xx', '-s', '1048576', '--seccomp-bpf', '-o', traceFile, '-e', `trace=${calls}`]
}

/** The steps that touch `database`, its WAL, its journal or the folder they are in, and all sends, in order of beginning. */
export async function readTrace(traceFile: string, folder: string, database: string): Promise<Step[]> {
  const tracked = new Set([folder, database, `${database}-wal`, `${database}-journal`])
  // As the file of a descriptor or as a name, not within data.
  const marks = [...tracked].flatMap((path) => [`<${toHex(path)}>`, `"${toHex(path)}"`])
  const steps: Step[] = []
  const unfinished = new Map<string, { name: string; text: string; begin: number }>()
  const add = (name: string, text: string, span: Span) => {
    const step = toStep(name, text, span, tracked)
    if (step !== undefined) steps.push(step)
    else if (others.includes(name) && marks.some((mark) => text.includes(mark)))
      throw new Error(`line ${span.begin}: ${name} on the database can't be replayed`)
  }
  let line = 0
  for await (const text of createInterface({ input: createReadStream(traceFile, 'latin1') })) {
    line += 1
    const parts = /^(\d+) +(<\.\.\. )?(\w+)( resumed>|\()/.exec(text)
    if (parts === null) continue
    const [start, pid = '', resumes, name = ''] = parts
    const rest = text.slice(start.length)
    const open = ' <unfinished ...>'
    if (resumes !== undefined) {
      const began = unfinished.get(pid)
      if (began?.name !== name) throw new Error(`line ${line}: ${name} resumes, but did not begin`)
      unfinished.delete(pid)
      add(name, began.text + rest, { begin: began.begin, end: line })
    } else if (rest.endsWith(open)) unfinished.set(pid, { name, text: rest.slice(0, -open.length), begin: line })
    // Nothing came between its beginning and its end.
    else add(name, rest, { begin: line, end: line + 0.5 })
  }
  for (const { name, text, begin } of unfinished.values())
    add(name, `${text}) = ?`, { begin, end: Number.POSITIVE_INFINITY })
  return steps.sort((a, b) => a.begin - b.begin)
}

function toStep(name: string, text: string, called: Span, tracked: Set<string>): Step | undefined {
  const close = text.indexOf(')')
  const args = text.slice(0, close)
  // `?` of a call in which the process was killed: it may have had its effect.
  const result = Number(/^\)\s+= (-?\d+)/.exec(text.slice(close))?.[1] ?? Number.NaN)
  const span = Number.isNaN(result) ? { ...called, end: Number.POSITIVE_INFINITY } : called
  const [file, fdText, pathHex = ''] = /^(\d+)<((?:\\x[0-9a-f]{2})*)>/.exec(args) ?? []
  const path = fromHex(pathHex).toString()
  const fd = Number(fdText)
  const numbers = () =>
    [...args.slice(args.lastIndexOf('"') + 1).matchAll(/, (\d+)/g)].map(([, digits]) => Number(digits))
  if (sends.includes(name) && path.startsWith('socket:')) return { ...span, kind: 'send', text: `${strings(args)}` }
  if (result < 0) return undefined
  if (name === 'openat' || name === 'unlink' || name === 'unlinkat') {
    const target = strings(args).toString()
    if (!tracked.has(target)) return undefined
    if (args.includes('O_TRUNC')) throw new Error(`line ${span.begin}: O_TRUNC on the database can't be replayed`)
    return name === 'openat'
      ? { ...span, kind: 'open', path: target, fd: result }
      : { ...span, kind: 'unlink', path: target }
  }
  if (file === undefined || !tracked.has(path)) return undefined
  switch (name) {
    case 'pwrite64':
      // A short write wrote what it says.
      return { ...span, kind: 'write', path, fd, offset: numbers()[1] ?? Number.NaN, data: written(args, result, span) }
    case 'ftruncate':
      return { ...span, kind: 'truncate', path, fd, size: Number(/, (\d+)$/.exec(args)?.[1]) }
    case 'fsync':
    case 'fdatasync':
      return { ...span, kind: 'sync', path, fd }
    default:
      throw new Error(`line ${span.begin}: ${name} on the database can't be replayed`)
  }
}

function written(args: string, length: number, { end }: Span): Buffer {
  const data = strings(args)
  return end === Number.POSITIVE_INFINITY ? data : data.subarray(0, length)
}

/** All quoted strings of a call's arguments, one after the other. */
function strings(args: string): Buffer {
  return fromHex([...args.matchAll(/"([^"]*)"/g)].map(([, hex]) => hex).join(''))
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

function toHex(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '\\x$&')
}
