import { createHmac, timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'

/*
 * How a server proves to a command that it wrote the `server.json` which the command has read: both know its secret, and
 * neither sends it. The address is part of the proof, so that a program at another address can't pass on somebody else's.
 */

export const challengeHeader = 'X-Agentserve-Challenge'
export const proofHeader = 'X-Agentserve-Proof'

/** Of the secret and of a challenge. */
export const proofBytes = 32

const encoded = /^[A-Za-z0-9_-]{43}$/

/** Whether this is the base64url of 32 bytes, as secrets, challenges and proofs are written. */
export function isProofText(value: unknown): value is string {
  return typeof value === 'string' && encoded.test(value)
}

/** `place` is what the command called: see `placeOf`. */
export function proofFor(secret: string, challenge: string, place: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update(`${challenge} ${place}`).digest('base64url')
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

/** An IPv4 address that comes over an IPv6 socket as what it is. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}
