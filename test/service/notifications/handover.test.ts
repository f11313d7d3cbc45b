import { expect, onTestFinished, test } from 'vitest'
import { startReceiver } from '../../support/push-receiver.ts'
import { request, runnable } from '../../support/services.ts'
import { openNotifying } from './support.ts'

const asking = runnable(async function* (_input, { resumed }) {
  if (resumed === undefined) yield { type: 'input_required', call_id: 'ask', kind: 'approval', prompt: 'may I?' }
  else yield 'for the new user only'
})

test('who had a session before is told nothing of what its new user does', async () => {
  const receiver = await startReceiver()
  const { runs, sessions, notifications } = await openNotifying({ asking })
  onTestFinished(async () => {
    await notifications.close()
    await receiver.close()
  })
  const statuses = () => receiver.received.map(({ json }) => json.status)
  const paused = async (sessionId: string) => {
    const { runId } = await runs.start(request('asking', 'hi', { mode: 'background', sessionId, userId: 'ann' }))
    await expect.poll(async () => (await runs.head(runId)).status).toBe('input_required')
    await notifications.set(runId, { url: receiver.url, version: '1.0' })
    return runId
  }
  const kept = await paused('kept')
  const given = await paused('given')
  await expect.poll(statuses).toEqual(['input_required', 'input_required'])
  await sessions.reuse('kept', { user_id: 'ann' })
  await sessions.reuse('given', { user_id: 'bob' })
  expect(await notifications.list(given)).toEqual([])
  await (await runs.resume(given, { approved: true, mode: 'plain' })).result()
  await (await runs.resume(kept, { approved: true, mode: 'plain' })).result()
  await expect.poll(() => receiver.received.at(-1)?.json).toMatchObject({ run_id: kept, status: 'completed' })
  const ofGiven = receiver.received.filter(({ json }) => json.run_id === given)
  expect(ofGiven.map(({ json }) => json.status)).toEqual(['input_required'])
})
