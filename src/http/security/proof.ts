import { challengeHeader, isProofText, placeOf, proofFor, proofHeader } from '../../core/access/server-proof.ts'
import type { Exchange } from '../exchange.ts'

const lowerChallengeHeader = challengeHeader.toLowerCase()

/** Name and value of the answer to a challenge; empty without a valid challenge. */
export function proofHeaders({ method, headers, incoming, settings }: Exchange): readonly string[] {
  const challenge = headers[lowerChallengeHeader]
  const { localAddress, localPort } = incoming.socket ?? {}
  if (method !== 'GET' || settings.proof === undefined || !isProofText(challenge)) return []
  // Not the Host header: the other side chooses it. A Unix socket has no address.
  const isAddress = localAddress !== undefined && localPort !== undefined
  const place = isAddress ? placeOf(localAddress, localPort) : incoming.socket && settings.proof.socketPath
  return place === undefined ? [] : [proofHeader, proofFor(settings.proof.secret, challenge, place)]
}
