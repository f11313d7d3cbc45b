import { createHmac, timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'

/*
 * How a server proves that it wrote the `server.json` that a command has read: both know its secret and neither sends
 * it. The proof includes the address, so a program at another address can't pass on another server's proof.
 */

export const challengeHeader = 'X-Agentserve-Challenge'
export const proofHeader = 'X-Agentserve-Proof'

/** On refusals of a server that is about to release its data folder: another one will answer. */
export const leavingHeader = 'X-Agentserve-Leaving'

export const proofBytes = 32

const encoded = /^[A-Za-z0-9_-]{43}$/

/** Whether the text is the base64url of 32 bytes, the format of secrets, challenges and proofs. */
export function isProofText(value: unknown): value is string {
  return typeof value === 'string' && encoded.test(value)
}

/** `place` is the address that the command called: see `placeOf`; of a socket its path. */
export function proofFor(secret: string, challenge: string, place: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update(`${challenge} ${place}`).digest('base64url')
}

/** The key of commands that share an owner's socket: who can read its `server.json` can read the data folder too. */
export function commandKeyFor(secret: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update('key of commands').digest('base64url')
}

/** Compares in constant time. */
export function isProof(given: unknown, secret: string, challenge: string, place: string): boolean {
  return isProofText(given) && timingSafeEqual(Buffer.from(given), Buffer.from(proofFor(secret, challenge, place)))
}

/** `host:port` of an IP address, as URLs write it. */
export function placeOf(address: string, port: number): string {
  const plain = plainAddress(address)
  return `${isIPv6(plain) ? `[${plain}]` : plain}:${port}`
}

/** Turns an IPv4-mapped IPv6 address into IPv4. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}
