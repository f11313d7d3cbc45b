import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { cardOf, type Give, openScriptedPeer } from '../../support/a2a-peer.ts'
import { collect } from '../fixture.ts'

test.each<[string, (give: Give) => void]>([
  ['an error', (give) => give.raw('data: {"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}\n\n')],
  ['an event that can not be read', (give) => give.event({ a: 1 })],
])('a stream that begins with %s is left, though the remote agent keeps it open', async (_what, begin) => {
  const left = Promise.withResolvers<void>()
  const peer = await openScriptedPeer((_call, give) => {
    once(give.response, 'close').then(() => left.resolve(), left.reject)
    begin(give)
  }, cardOf)
  onTestFinished(() => peer.close())
  const { error } = await collect(remoteAgent({ url: peer.url }), 'go')
  expect(error).toMatchObject({ code: 'run_failed' })
  await left.promise
})
