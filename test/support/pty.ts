import { spawn } from '@lydell/node-pty'
import headless, { type IBuffer } from '@xterm/headless'
import { bin, environment, type Project } from './program.ts'

export interface PtyOptions {
  /** Default 100 × 30. */
  columns?: number
  rows?: number
  env?: Record<string, string>
  /** What is run on Node; default: the built `agentserve`. */
  script?: string
  /** How long `until` waits before it gives up and shows the screen; default 20 s. */
  patienceMs?: number
}

/** A program in a terminal of its own. */
export interface Pty {
  /** What a person would see now: a line for each row, without the spaces at its end. */
  screen(): string[]
  /** The screen and all that has scrolled away above it; lines that the terminal has wrapped are one. */
  text(): string
  /** The characters of `text()` with their colours. */
  buffer(): IBuffer
  /** What the program has set as the window's title. */
  title(): string
  /** Every byte that the program has written, as text. */
  raw(): string
  /** Where the next character would appear. */
  cursor(): { column: number; row: number }
  /** As if typed: `'a'`, `'\r'`, `'\x03'` for Ctrl-C, `'\x1b[A'` for Up. */
  send(keys: string): void
  resize(columns: number, rows: number): void
  /** Resolves when the text (screen and what is above) fulfils it; else rejects with what was there. */
  until(wanted: string | RegExp | ((pty: Pty) => boolean)): Promise<void>
  kill(signal?: NodeJS.Signals): void
  /** The exit code, or the signal, when everything that was written has been read. */
  exited: Promise<{ code: number; signal: number | undefined }>
  /** Ends the program if it is still there. */
  close(): Promise<void>
}

/** Runs `agentserve` with these arguments in a pseudo-terminal. */
export function openPty(project: Pick<Project, 'folder'>, args: readonly string[], options: PtyOptions = {}): Pty {
  const { columns = 100, rows = 30, script = bin, patienceMs = 20_000 } = options
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
  const child = spawn(process.execPath, [script, ...args], {
    // It takes the place of TERM.
    name: options.env?.TERM ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: project.folder,
    env: environment(options.env ?? {}),
  })
  const watchers = new Set<() => void>()
  let title = ''
  let raw = ''
  let ended = false
  const look = () => {
    for (const watcher of watchers) watcher()
  }
  terminal.onTitleChange((text) => {
    title = text
  })
  // Programs ask terminals where the cursor is and what they can do.
  terminal.onData((answer) => child.write(answer))
  child.onData((data) => {
    raw += data
    terminal.write(data, look)
  })
  const exited = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    child.onExit(({ exitCode: code, signal }) => {
      ended = true
      terminal.write('', () => {
        look()
        resolve({ code, signal })
      })
    })
  })

  const pty: Pty = {
    screen: () => linesFrom(terminal.buffer.active.baseY, terminal.rows, terminal),
    text() {
      const { active } = terminal.buffer
      let text = ''
      for (let row = 0; row < active.length; row++) {
        const line = active.getLine(row)
        const continues = active.getLine(row + 1)?.isWrapped === true
        text += (line?.translateToString(!continues) ?? '') + (continues ? '' : '\n')
      }
      return text.trimEnd()
    },
    buffer: () => terminal.buffer.active,
    title: () => title,
    raw: () => raw,
    cursor: () => ({ column: terminal.buffer.active.cursorX, row: terminal.buffer.active.cursorY }),
    send: (keys) => child.write(keys),
    resize(width, height) {
      terminal.resize(width, height)
      child.resize(width, height)
    },
    until(wanted) {
      const isThere =
        typeof wanted === 'function'
          ? () => wanted(pty)
          : () => (typeof wanted === 'string' ? pty.text().includes(wanted) : wanted.test(pty.text()))
      return new Promise<void>((resolve, reject) => {
        const finish = (settle: () => void) => {
          clearTimeout(timer)
          watchers.delete(watcher)
          settle()
        }
        const fail = (why: string) =>
          finish(() => reject(new Error(`${why} ${wanted}; the terminal shows:\n${pty.text()}`)))
        const watcher = () => {
          if (isThere()) finish(resolve)
          else if (ended) fail('it ended before')
        }
        const timer = setTimeout(() => fail(`after ${patienceMs} ms there is no`), patienceMs)
        watchers.add(watcher)
        watcher()
      })
    },
    kill: (signal) => child.kill(signal),
    exited,
    async close() {
      if (!ended) child.kill('SIGKILL')
      await exited
      terminal.dispose()
    },
  }
  return pty
}

function linesFrom(first: number, count: number, terminal: InstanceType<typeof headless.Terminal>): string[] {
  return Array.from({ length: count }, (_, row) => {
    const line = terminal.buffer.active.getLine(first + row)
    return line?.translateToString(true) ?? ''
  })
}
