import { createProject, serve } from './program.ts'
import { openPty, type Pty } from './pty.ts'
import { killOwner } from './takeover.ts'

export interface ChatSpeed {
  /** From the first text's leaving the agent to its being on the screen; medians. */
  firstTextMs: number
  /** From the end of the run to the last of 5,000 fragments being on the screen. */
  lastTextMs: number
}

// Each text says when it left.
const config = `
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    one: agent({ async *run({ signal }) {
      await sleep(300, undefined, { signal })
      yield 'first@' + Date.now() + ' '
      await sleep(300, undefined, { signal })
      yield 'the end.'
    } }),
    many: agent({ async *run() {
      for (let n = 0; n < 5000; n++) {
        yield 'word' + n + (n % 60 === 59 ? '.\\n\\n' : ' ')
        if (n % 10 === 9) await sleep(1)
      }
      yield '\\n\\nlast of all'
    } }),
    endless: agent({ async *run({ signal }) {
      for (let n = 0; ; n++) {
        yield 'part' + n + ' '
        await sleep(20, undefined, { signal })
      }
    } }),
  },
})
`

/** What a chat in a terminal takes, beside a server of its own. */
export async function measureChat(times: number): Promise<ChatSpeed> {
  const project = await createProject({ 'agent.config.ts': config })
  const server = await serve(project, 'start')
  try {
    const first: number[] = []
    const last: number[] = []
    for (let count = 0; count < times; count++) {
      const one = openPty(project, ['chat', 'one'])
      await one.until('Enter sends')
      one.send('go\r')
      await one.until(/first@\d{13}/)
      first.push(Date.now() - Number(/first@(\d{13})/.exec(one.text())?.[1]))
      await one.close()
      const many = openPty(project, ['chat', 'many'], { patienceMs: 60_000 })
      await many.until('Enter sends')
      many.send('go\r')
      await many.until((pty) => pty.screen().some((line) => line.includes('last of all')))
      const seen = Date.now()
      await many.until((pty) => pty.screen().some((line) => line.startsWith('Enter sends')))
      await many.close()
      const answer = await fetch(`${server.url}/api/v1/runs?agent_id=many&limit=1`)
      const { runs } = (await answer.json()) as { runs: { completed_at: string }[] }
      last.push(seen - Date.parse(runs[0]?.completed_at ?? ''))
    }
    return { firstTextMs: medianOf(first), lastTextMs: medianOf(last) }
  } finally {
    await server.stop()
    await project.remove()
  }
}

export interface Takeover {
  /** From the kill of the terminal that serves until another one does; medians. */
  servesMs: number
  /** From the kill until the two that were in an answer say that it was interrupted. */
  toldMs: number
}

/** Four chats on one folder without a server, two of them in an answer; the one that serves is killed. */
export async function measureTakeover(times: number): Promise<Takeover> {
  const serves: number[] = []
  const told: number[] = []
  for (let count = 0; count < times; count++) {
    const project = await createProject({ 'agent.config.ts': config })
    const chats: Pty[] = []
    try {
      for (let number = 0; number < 4; number++) {
        const chat = openPty(project, ['chat', 'endless'])
        chats.push(chat)
        await chat.until('Enter sends')
      }
      const [owner, ...others] = chats as [Pty, Pty, Pty, Pty]
      const busy = others.slice(0, 2)
      for (const chat of busy) chat.send('go\r')
      for (const chat of busy) await chat.until('part9 ')
      const since = performance.now()
      serves.push(Math.round(await killOwner(project, owner)))
      for (const chat of busy) await chat.until('The run was interrupted')
      told.push(Math.round(performance.now() - since))
    } finally {
      for (const chat of chats) await chat.close()
      await project.remove()
    }
  }
  return { servesMs: medianOf(serves), toldMs: medianOf(told) }
}

function medianOf(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
