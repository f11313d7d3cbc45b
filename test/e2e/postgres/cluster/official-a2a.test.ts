import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { collect } from '../../../support/collect.ts'
import { folded, officialClient, officialWays, said } from '../../../support/official-clients.ts'
import { owned } from '../../../support/owned.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('tasks of the official A2A on three servers', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all) => {
    ;[a, b, c] = all
  })

  const clientOf = (way: (typeof officialWays)[number], instance: Instance, id: string) =>
    officialClient(way, `${instance.url}/api/v1/a2a/agents/${id}/`)

  /** What comes until the stream has this text. */
  async function until(stream: AsyncGenerator<StreamResponse>, text: string): Promise<StreamResponse[]> {
    const events: StreamResponse[] = []
    while (!folded(events).text.includes(text)) {
      const { value, done } = await stream.next()
      if (done) break
      events.push(value)
    }
    return events
  }

  test('are followed from other servers, with each event once, also when a reader leaves', async () => {
    for (const way of officialWays) {
      const atA = await clientOf(way, a, 'ticking')
      const atB = await clientOf(way, b, 'ticking')
      const atC = await clientOf(way, c, 'ticking')
      const first = atA.sendMessageStream(said(`120 10 ${way.replaceAll(' ', '')}`))
      const { id } = folded(await until(first, 'fragment 3. '))
      const early = owned(collect(atB.resubscribeTask({ tenant: '', id })))
      const late = atC.resubscribeTask({ tenant: '', id })
      await until(late, 'fragment 40. ')
      await late.return(undefined)
      await first.return(undefined)
      const whole = Array.from({ length: 120 }, (_, n) => `fragment ${n}. `).join('')
      const atTheEnd = folded(await early)
      expect([way, atTheEnd]).toEqual([
        way,
        {
          id,
          contextId: atTheEnd.contextId,
          state: TaskState.TASK_STATE_COMPLETED,
          message: '',
          text: whole,
          data: [],
        },
      ])
      expect(folded([await atC.getTask({ tenant: '', id })])).toEqual(atTheEnd)
    }
  })

  test('are cancelled and answered on another server', async () => {
    for (const way of officialWays) {
      const message = said('10000 20 long', { returnImmediately: true })
      const { id } = (await (await clientOf(way, a, 'ticking')).sendMessage(message)) as Task
      const cancelled = await (await clientOf(way, b, 'ticking')).cancelTask({ tenant: '', id, metadata: undefined })
      expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
      const paused = (await (await clientOf(way, a, 'careful')).sendMessage(said('pay'))) as Task
      expect(paused.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
      const answer = said('approve', { taskId: paused.id })
      const done = folded([(await (await clientOf(way, b, 'careful')).sendMessage(answer)) as Task])
      expect(done).toMatchObject({ state: TaskState.TASK_STATE_COMPLETED, text: 'It is paid.' })
    }
  })
})
