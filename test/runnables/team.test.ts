import { ToolLoopAgent } from 'ai'
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/runnables/agent.ts'
import { bindModel } from '../../src/runnables/binding.ts'
import { team } from '../../src/runnables/team.ts'
import { answer, collect, fakeContext, scripted } from './fixture.ts'

const shout = agent({ name: 'shout', run: ({ text }) => text.toUpperCase() })
const source = { type: 'source', index: 1, source: 'a.md', document_id: 'd', chunk_id: 'c' } as const
const facts = agent({
  *run() {
    yield source
    yield 'fact'
  },
})

describe('team in sequence', () => {
  it('gives each member the input and the answers so far, and answers with the last one', async () => {
    const { text, of, types } = await collect(
      team({ members: ['facts', shout] }),
      'Go',
      fakeContext({ entities: { facts } }),
    )
    expect(types).toEqual(['step_start', 'step_end', 'step_start', 'text_delta', 'step_end'])
    expect(of('step_start').map(({ name }) => name)).toEqual(['facts', 'shout'])
    expect(of('step_end').map(({ status, output }) => ({ status, output }))).toEqual([
      { status: 'completed', output: 'fact' },
      { status: 'completed', output: text },
    ])
    expect(text).toBe('GO\n\nANSWERS OF THE TEAM SO FAR:\n\nANSWER OF FACTS:\nFACT')
  })

  it("passes on the last member's sources", async () => {
    const { of } = await collect(team({ members: [shout, facts] }), 'Go')
    expect(of('source')).toEqual([source])
  })

  it('puts the steps of a team inside under the step of that team', async () => {
    const { of } = await collect(team({ members: [team({ name: 'inner', members: [shout] })] }), 'x')
    const [outer, inner] = of('step_start')
    expect(outer?.parent_id).toBeUndefined()
    expect(inner?.parent_id).toBe(outer?.step_id)
  })

  it('fails with its member and does not ask the next one', async () => {
    const failing = agent({
      run: () => {
        throw new Error('no luck')
      },
    })
    const { error, of } = await collect(team({ members: [failing, shout] }), 'x')
    expect(error).toMatchObject({ message: 'no luck' })
    expect(of('step_end')).toMatchObject([{ status: 'failed', error: { message: 'no luck' } }])
  })

  it('marks the step cancelled when the run is', async () => {
    const cancel = new AbortController()
    const waiting = agent({
      run: ({ signal }) => {
        cancel.abort(new Error('requested'))
        signal.throwIfAborted()
        return ''
      },
    })
    const { of } = await collect(team({ members: [waiting] }), 'x', fakeContext({ signal: cancel.signal }))
    expect(of('step_end')).toMatchObject([{ status: 'cancelled' }])
  })

  it('says so when teams contain each other', async () => {
    const entities = { a: team({ members: ['b'] }), b: team({ members: ['a'] }) }
    const { error } = await collect(entities.a, 'x', fakeContext({ entities, entityId: 'a' }))
    expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('a → b → a') })
  })

  it('hands the model of the config to members that are entities', async () => {
    const bound = bindModel(team({ members: [agent({ name: 'm' })] }), { model: scripted(answer('bound')) })
    expect((await collect(bound, 'x')).text).toBe('bound')
  })

  it('takes agents of the AI SDK as members', async () => {
    const helper = new ToolLoopAgent({ id: 'helper', model: scripted(answer('hosted')) })
    const { text, of } = await collect(team({ members: [helper] }), 'x')
    expect(text).toBe('hosted')
    expect(of('step_start')[0]?.name).toBe('helper')
  })

  it.each([
    [{ members: [] }, 'members'],
    [{}, 'members'],
    [{ members: ['a'], mode: 'lead' }, 'mode'],
    [{ members: [5] }, 'members.0'],
    [{ members: ['a'], lead: 'a' }, 'lead'],
  ])('refuses %j', (settings, path) => {
    expect(() => team(settings as never)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: [expect.objectContaining({ path })] }),
    )
  })

  it('lists the modes that there are', () => {
    expect(() => team({ members: ['a'], mode: 'route' as never })).toThrow("`mode` must be 'sequence', not 'route'")
  })
})
