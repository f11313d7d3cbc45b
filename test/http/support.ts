import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Kernel } from '../../src/http/kernel.ts'
import type { Bound } from '../../src/http/listen.ts'
import { json } from '../../src/http/reply.ts'
import type { Route } from '../../src/http/router.ts'
import { createKernel, type KernelOptions } from '../support/kernel.ts'

/** A kernel that is closed when the test ends. */
export function testKernel(routes: Route[], options: KernelOptions = {}): Kernel {
  const kernel = createKernel(options)
  kernel.setRoutes(routes)
  onTestFinished(() => kernel.close({ deadlineMs: 0 }))
  return kernel
}

export async function listening(routes: Route[], options: KernelOptions = {}): Promise<{ kernel: Kernel } & Bound> {
  const kernel = testKernel(routes, options)
  return { kernel, ...(await kernel.listen({ host: '127.0.0.1', port: 0 })) }
}

export const get = (path: string, handler: Route['handler'] = () => json({ path })): Route => ({
  method: 'GET',
  path,
  scope: 'any',
  handler,
})
export const post = (path: string, handler: Route['handler']): Route => ({
  method: 'POST',
  path,
  scope: 'any',
  handler,
})

/** Answers with what was sent, parsed. */
export const echo = post('/echo', async ({ body }) => json({ value: (await body.json()) ?? null }))

export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

/** Sends the bytes and gives everything that comes back until the other side closes. */
export async function sendRaw(port: number, ...pieces: (string | Uint8Array)[]): Promise<string> {
  const socket = openSocket(port)
  for (const piece of pieces) socket.write(piece)
  return await readAll(socket)
}

export async function readAll(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

/** Status, headers in lower case and body of one raw answer. */
export function parseRaw(answer: string): { status: number; headers: Record<string, string>; body: string } {
  const end = answer.indexOf('\r\n\r\n')
  const [line = '', ...fields] = answer.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  )
  return { status: Number(line.split(' ')[1]), headers, body: answer.slice(end + 4) }
}
