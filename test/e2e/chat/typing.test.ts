import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty

const config = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'

export default defineConfig({
  knowledge: { sources: ['facts.md'] },
  agents: {
    say: agent({
      async *run({ text, parts, signal, resumed }) {
        if (resumed !== undefined) return yield 'It is ' + resumed.input
        if (text === 'wait') {
          yield 'Waiting. '
          while (!existsSync('go')) await sleep(20, undefined, { signal })
        }
        if (text === 'ask') return yield { type: 'input_required', prompt: 'How many?' }
        yield 'You said: ' + text + parts.filter(({ type }) => type === 'file').map(({ name }) => ' with ' + name).join('')
      },
    }),
    sayings: agent({ model: scriptedModel(({ text }) => 'Said ' + text) }),
    docs: agent({ knowledge: true, instructions: 'Answer from the passages.' }),
  },
})
`

beforeAll(async () => {
  project = await createProject({
    'agent.config.ts': config,
    'facts.md': '# Facts\n\nThe request timeout is thirty seconds.\n',
    'notes/one two.txt': 'one',
    'notes/other.txt': 'two',
    'notes/\u202eevil.txt': 'three',
  })
  server = await serve(project, 'dev')
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})
afterEach(() => terminal.close())

const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))
const line = (text: string) => (pty: Pty) => pty.screen().some((row) => row.trimEnd() === text)

async function chat(...args: string[]): Promise<void> {
  terminal = openPty(project, ['chat', ...args], { columns: 80, rows: 40 })
  await terminal.until(idle)
}

async function type(text: string): Promise<void> {
  terminal.send(text)
  await terminal.until(line(`> ${text}`))
}

test('what is typed while a run works is queued, shown, changed, and sent in its order', async () => {
  await chat('say')
  await type('wait')
  terminal.send('\r')
  await terminal.until('Waiting.')
  for (const text of ['first', 'second', 'thrid']) {
    await type(text)
    terminal.send('\r')
    await terminal.until(line(`  queued: ${text}`))
  }
  terminal.send('\x1b[A')
  await terminal.until(line('> thrid'))
  expect(terminal.screen().join('\n')).not.toContain('queued: thrid')
  terminal.send('\x15')
  await type('third')
  terminal.send('\r')
  await terminal.until(line('  queued: third'))
  await project.write('go', '')
  await terminal.until(/You said: first\n[\s\S]*You said: second\n[\s\S]*You said: third\n/)
  await terminal.until(idle)
  expect(terminal.text()).not.toContain('queued:')
})

test('Esc stops the run and sends what is queued; Ctrl-C stops all and gives it back', async () => {
  await rm(join(project.folder, 'go'))
  await chat('say')
  await type('wait')
  terminal.send('\r')
  await terminal.until('Waiting.')
  await type('next')
  terminal.send('\r')
  await terminal.until('queued: next')
  await type('my draft')
  terminal.send('\x1b')
  await terminal.until(/Waiting\.\n+ {2}Cancelled\.\n+> next\n+say\n+You said: next/)
  await terminal.until(line('> my draft'))
  terminal.send('\x15wait\r')
  await terminal.until(/You said: next[\s\S]*Waiting\./)
  await type('later')
  terminal.send('\r')
  await terminal.until('queued: later')
  await type('a draft')
  terminal.send('\x03')
  await terminal.until(/1 queued message was not sent[\s\S]*Cancelled\./)
  await terminal.until(idle)
  expect(terminal.text()).not.toContain('You said: later')
  terminal.send('\x1b[A')
  await terminal.until(line('> a draft'))
  terminal.send('\x1b[A')
  await terminal.until(line('> later'))
})

test('a draft is no answer to a question that comes while it is typed', async () => {
  await rm(join(project.folder, 'go'), { force: true })
  await chat('say')
  terminal.send('wait\r')
  await terminal.until('Waiting.')
  terminal.send('ask\r')
  await terminal.until('queued: ask')
  await type('seven dwarfs')
  await project.write('go', '')
  await terminal.until(/How many\?\n+answer> *\nThe run needs/)
  terminal.send('7\r')
  await terminal.until((pty) => idle(pty) && line('> seven dwarfs')(pty))
})

test('the history is that of the project, over sessions, and Ctrl-R searches it', async () => {
  await chat('say')
  for (const text of ['alpha one', 'beta two', 'alpha three']) {
    terminal.send(`${text}\r`)
    await terminal.until(`You said: ${text}`)
    await terminal.until(idle)
  }
  terminal.send('\x04')
  await terminal.exited
  await terminal.close()
  await chat('say')
  await type('draft')
  terminal.send('\x12')
  await terminal.until(line('(search: )> draft'))
  terminal.send('alpha')
  await terminal.until(line('(search: alpha)> alpha three'))
  terminal.send('\x12')
  await terminal.until(line('(search: alpha)> alpha one'))
  terminal.send('\x07')
  await terminal.until(line('> draft'))
  terminal.send('\x12')
  await terminal.until(line('(search: )> draft'))
  terminal.send('BETA')
  await terminal.until(line('(search: BETA)> beta two'))
  terminal.send('\r')
  await terminal.until(line('> beta two'))
  terminal.send('\r')
  await terminal.until('You said: beta two')
})

test('Ctrl-D while a run works quits when it has ended, and cuts nothing', async () => {
  await rm(join(project.folder, 'go'), { force: true })
  await chat('say')
  terminal.send('wait\r')
  await terminal.until('Waiting.')
  terminal.send('\x04')
  await terminal.until('quits when it has ended')
  await project.write('go', '')
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  expect(terminal.text()).toMatch(/Waiting\. You said: wait\n[\s\S]*Continue with/)
})

test('Tab completes commands, agents and files, and offers no name that changes the terminal', async () => {
  await chat('say')
  terminal.send('/sou\t')
  await terminal.until(line('> /sources'))
  terminal.send('\x15/agent s\t')
  await terminal.until((pty) => line('> /agent say')(pty) && line('say  sayings')(pty))
  terminal.send('ings\r')
  await terminal.until('You are now talking to sayings.')
  terminal.send('/agent say\r')
  await terminal.until('You are now talking to say.')
  await terminal.until(idle)
  terminal.send('see @notes/\t')
  await terminal.until(line('@"notes/one two.txt"  @notes/other.txt'))
  expect(terminal.raw()).not.toContain('\u202e')
  terminal.send('oth\t')
  await terminal.until(line('> see @notes/other.txt'))
  terminal.send('\r')
  await terminal.until('with other.txt')
  await terminal.until(idle)
  terminal.send('/attach notes/one\t')
  await terminal.until(line('> /attach notes/one\\ two.txt'))
  terminal.send('\r')
  await terminal.until(/Your next message has:\n.*one two\.txt/)
  terminal.send('with a file\r')
  await terminal.until('You said: with a file with one two.txt')
})

test('/sources shows the sources of a quote, and of the last answer of a session that is continued', async () => {
  await chat('docs')
  terminal.send('What is the request timeout?\r')
  await terminal.until(/\[1\] facts\.md:\d/)
  await terminal.until(idle)
  terminal.send('/sources\r')
  await terminal.until(/\[1\] facts\.md:\d[\s\S]*\n {2}\[1\] facts\.md:\d/)
  terminal.send('\x04')
  await terminal.exited
  await terminal.close()
  await chat('docs', '--continue')
  terminal.send('/sources\r')
  await terminal.until(/\[1\] facts\.md:\d[\s\S]*\n {2}\[1\] facts\.md:\d/)
  terminal.send('/new\r')
  await terminal.until('Started a new session.')
  terminal.send('/sources\r')
  await terminal.until('There is no answer yet.')
})

test('/why shows the passages of the last answer, /model the model, and again with another one', async () => {
  await chat('docs')
  terminal.send('What is the request timeout?\r')
  await terminal.until('thirty seconds')
  await terminal.until(idle)
  terminal.send('/why\r')
  await terminal.until(/searched {2}What is the request timeout\?[\s\S]*facts\.md:\d[\s\S]*runs show run_\w+ --why/)
  terminal.send('/model\r')
  await terminal.until(
    /docs has no model: its answers are quotes\.[\s\S]*\/model <provider\/model> answers your last message again/,
  )
  terminal.send('/model nonsense\r')
  await terminal.until(/has no model of its own|is not a model/)
  terminal.send('/help\r')
  await terminal.until(/\/why[\s\S]*Ctrl-R/)
})
