import { challengeHeader, isProofText, placeOf, proofFor, proofHeader } from '../../core/access/server-proof.ts'
import type { Exchange } from '../exchange.ts'

const lowerChallengeHeader = challengeHeader.toLowerCase()

/** Name and value of the answer to a challenge; empty without a valid challenge. */
export function proofHeaders({ method, headers, incoming, settings }: Exchange): readonly string[] {
  const challenge = headers[lowerChallengeHeader]
  const { localAddress, localPort } = incoming.socket ?? {}
  if (method !== 'GET' || settings.proof === undefined || !isProofText(challenge)) return []
  if (localAddress === undefined || localPort === undefined) return []
  // Not the Host header: the other side chooses it.
  return [proofHeader, proofFor(settings.proof.secret, challenge, placeOf(localAddress, localPort))]
}
