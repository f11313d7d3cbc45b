import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { plainAddress } from '../core/access/server-proof.ts'
import { AppError } from '../core/error.ts'

export interface ListenAddress {
  /** Undefined: every interface. */
  host: string | undefined
  /** 0 picks a free one. */
  port: number
}

export interface Bound {
  host: string
  port: number
  /** A URL that works on this machine. */
  url: string
  /** The same with the address in place of a name. */
  addressUrl: string
}

/** Resolves when connections are accepted. A port in use is `conflict`; the cause keeps node's error. */
export async function bind(server: Server, { host, port }: ListenAddress): Promise<Bound> {
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port))
    server.once('error', onError)
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', onError)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  const { port: boundPort } = address
  const ip = plainAddress(address.address)
  return { host: host ?? ip, port: boundPort, url: urlOf(host ?? ip, boundPort), addressUrl: urlOf(ip, boundPort) }
}

/**
 * Listens on a Unix socket that only this user can open, or on a named pipe of Windows. The path must be free. Resolves when
 * connections are accepted.
 */
export async function bindSocket(server: Server, path: string): Promise<Bound> {
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(new AppError('unavailable', `Can't listen on the socket ${path}: ${error.message}.`, { cause: error }))
    server.once('error', onError)
    // The socket is made within this call: nobody else can open it for a moment before its mode is set.
    const mask = process.umask(0o177)
    try {
      server.listen({ path }, () => {
        server.off('error', onError)
        resolve()
      })
    } finally {
      process.umask(mask)
    }
  })
  return { host: path, port: 0, url: `unix:${path}`, addressUrl: `unix:${path}` }
}

/** The http URL of an address; every-interface addresses become the loopback one. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function listenError(error: NodeJS.ErrnoException, host: string | undefined, port: number): AppError {
  const address = host === undefined ? `port ${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`
  const options = { cause: error }
  if (error.code === 'EADDRINUSE') {
    return new AppError(
      'conflict',
      `Can't listen on ${address}: the port is already in use. Choose another port.`,
      options,
    )
  }
  if (error.code === 'EACCES')
    return new AppError('forbidden', `Can't listen on ${address}: permission denied. Choose another port.`, options)
  return new AppError('invalid_request', `Can't listen on ${address}: ${error.message}.`, options)
}
