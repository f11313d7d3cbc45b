import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { expect } from 'vitest'
import { bin, environment, type Finished, type Project } from './program.ts'

export interface Reply {
  jsonrpc: string
  id: number | string | null
  result?: Record<string, unknown> & {
    tools?: { name: string }[]
    content?: { type: string; text: string }[]
    structuredContent?: Record<string, unknown>
    isError?: boolean
  }
  error?: { code: number; message: string }
}

/** `agentserve mcp` as a host sees it, line by line. */
export interface McpLines {
  child: ChildProcess
  /** What stdout and stderr had so far. */
  stdout(): string
  stderr(): string
  write(text: string): void
  send(id: number | string, method: string, params?: object): void
  reply(id: number | string | null): Promise<Reply>
  ask(method: string, params?: object): Promise<Reply>
  call(name: string, args: object): Promise<Reply>
  /** The messages without an id. */
  notices(): { method: string; params?: Record<string, unknown> }[]
  open(capabilities?: object): Promise<Reply>
  finished: Promise<Finished>
}

export function speakMcp(project: Project, args: string[] = [], env: Record<string, string> = {}): McpLines {
  const child = spawn(process.execPath, [bin, 'mcp', ...args], {
    cwd: project.folder,
    env: environment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdin.on('error', () => {})
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const finished = new Promise<Finished>((done, fail) => {
    child.once('error', fail)
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr }))
  })
  let last = 0
  const messages = () =>
    stdout
      .slice(0, stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Reply & { method?: string; params?: Record<string, unknown> })
  const lines: McpLines = {
    child,
    finished,
    stdout: () => stdout,
    stderr: () => stderr,
    write: (text) => void child.stdin.write(text),
    send: (id, method, params = {}) =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
    async reply(id) {
      const find = () => messages().find((message) => message.id === id && message.method === undefined)
      await expect.poll(find, { timeout: 20_000, message: `answer to ${id}` }).toBeDefined()
      return find() as Reply
    },
    ask(method, params) {
      const id = ++last
      lines.send(id, method, params)
      return lines.reply(id)
    },
    call: (name, args) => lines.ask('tools/call', { name, arguments: args }),
    notices: () =>
      messages().flatMap(({ method, params }) => (method === undefined ? [] : [{ method, params: params ?? {} }])),
    async open(capabilities = {}) {
      const clientInfo = { name: 'test', version: '1' }
      const opened = await lines.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })
      lines.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
      return opened
    },
  }
  return lines
}

/** Every line that was printed is a JSON-RPC message. */
export function expectMessagesOnly(stdout: string): void {
  for (const line of stdout.split('\n').filter((text) => text !== ''))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  expect(stdout === '' || stdout.endsWith('\n')).toBe(true)
}
