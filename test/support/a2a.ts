import { usualLimits } from '../../src/config/settings/limits.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Runnable } from '../../src/core/runnable.ts'
import type { SessionStore } from '../../src/core/store.ts'
import type { Route } from '../../src/http/router.ts'
import { createA2A } from '../../src/protocols/a2a/a2a.ts'
import { createKernel, type KernelOptions } from './kernel.ts'
import { openServices } from './services.ts'

interface Options extends KernelOptions {
  prefix?: string
  store?: SessionStore
}

/** The dialect over the real services and the memory store, on our kernel. */
export async function openA2A(
  entities: Record<string, Runnable>,
  { prefix = '/api/v1/a2a', store, ...kernelOptions }: Options = {},
) {
  const services = await openServices(entities, store, kernelOptions.requestTimeoutMs)
  const kernel = createKernel(kernelOptions)
  const a2a = createA2A({
    prefix,
    registry: services.registry,
    fileBytes: usualLimits().fileBytes,
    services: () => ({ ...services, logger: silentLogger }),
  })
  const routes: Route[] = []
  a2a.setupRoutes({ route: (route) => routes.push(route) })
  kernel.setRoutes(routes)

  async function post(path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) {
    const url = `${a2a.prefix}/${path}`
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const all = { 'content-type': 'application/json', ...headers }
    return kernel.inject({ method: 'POST', url, headers: all, body: text, ...(signal ? { signal } : {}) })
  }

  return { ...services, kernel, a2a, routes, post }
}

let count = 0

/** A valid request; `message` replaces fields of the message, `undefined` takes them away. */
export function rpc(method: string, agentId: string, content: string, message: Record<string, unknown> = {}) {
  count++
  return {
    jsonrpc: '2.0',
    method,
    id: `req-${count}`,
    params: {
      message: { messageId: `m-${count}`, role: 'user', agentId, parts: [{ type: 'text', content }], ...message },
    },
  }
}
