import { usualTimeoutMs } from '../../src/config/server-config.ts'
import { serverSettings } from '../../src/config/settings/server.ts'
import { createKernel as create, type Kernel } from '../../src/http/kernel.ts'
import type { KernelOptions as AllOptions, KernelConfig, TrafficLimits } from '../../src/http/options.ts'

export type KernelOptions = Partial<AllOptions>

const { requestTimeout, maxRequestSize, auth, ...server } = serverSettings.parse({})
const usual: KernelConfig = {
  ...server,
  requestTimeoutMs: requestTimeout ?? usualTimeoutMs,
  maxRequestBytes: maxRequestSize,
  authKeys: auth.keys,
}

/** The limits of a server that sets none. */
export const usualTraffic: TrafficLimits = server.limits

/** A kernel as a configuration without settings makes it. */
export function createKernel(options: KernelOptions = {}): Kernel {
  return create({ ...usual, ...options })
}
