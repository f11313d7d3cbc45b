import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty

const config = `
import { agent, defineConfig, workflow } from 'agentserve'
import { z } from 'zod'
const schema = {
  type: 'object',
  required: ['title', 'count', 'kind', 'tags', 'code'],
  properties: {
    title: { type: 'string', minLength: 3, description: 'What it is \\u001b[2Jcalled.' },
    count: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
    kind: { enum: ['news', 'report'] },
    urgent: { type: 'boolean', title: 'Is it urgent?' },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
    code: { type: 'string', format: 'password' },
  },
}
export default defineConfig({
  agents: {
    asks: agent({
      async *run({ text, resumed }) {
        if (resumed !== undefined) return yield 'It is ' + JSON.stringify(resumed.input)
        const asked = text === 'odd' ? { anyOf: [{ type: 'object' }, { type: 'null' }] } : schema
        yield { type: 'input_required', prompt: 'Fill in.', schema: asked }
      },
    }),
  },
  workflows: {
    publish: workflow({
      input: z.object({ city: z.string().min(2), days: z.int().min(1).max(14).default(3), note: z.string().optional() }),
      run: async ({ input }) => 'Published ' + JSON.stringify(input),
    }),
  },
})
`

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})
afterEach(() => terminal.close())

const idle = (pty: Pty) => pty.screen().some((line) => /^Enter (?:sends|opens)/.test(line))
const prompts =
  (name: string, status = 'The run needs your answer · Ctrl-C cancels it') =>
  (pty: Pty) =>
    pty.screen().some((line) => line.startsWith(`${name}>`)) && pty.screen().some((line) => line.startsWith(status))
const starts = (name: string) => prompts(name, 'The form starts the run · Esc goes back · Ctrl-C closes it')

async function chat(id: string): Promise<void> {
  terminal = openPty(project, ['chat', id], { columns: 80, rows: 40 })
  await terminal.until(idle)
}

/** Answers the open question, and waits for the next. */
async function fill(text: string, next: string, said?: RegExp): Promise<void> {
  terminal.send(`${text}\r`)
  if (said !== undefined) await terminal.until(said)
  await terminal.until(prompts(next))
}

test('asks for each field of a schema, in clear words where an answer does not fit, and goes back', async () => {
  await chat('asks')
  terminal.send('go\r')
  await terminal.until(prompts('title'))
  expect(terminal.text()).toContain('What it is called.')
  await fill('', 'title', /Fill this in\./)
  await fill('ab', 'title', /At least 3 characters are needed\./)
  await fill('News of today', 'count', /count \[2\]\n {2}a whole number from 1 to 5/)
  await fill('many', 'count', /This is not a number\./)
  await fill('9', 'count', /This must be at most 5\./)
  await fill('', 'kind', /1 {2}news\n {2}2 {2}report/)
  await fill('weather', 'kind', /This is none of the choices\./)
  await fill('2', 'Is it urgent?', /y or n/)
  await fill('perhaps', 'Is it urgent?', /y for yes, n for no\./)
  terminal.send('\x1b')
  await terminal.until(prompts('kind'))
  await fill('news', 'Is it urgent?')
  await fill('', 'tags, entry 1')
  await fill('', 'tags, entry 1', /At least 1 entry is needed\./)
  await fill('a', 'tags, entry 2')
  await fill('b c', 'tags, entry 3')
  await fill('', 'code')
  terminal.send('s3cret')
  await terminal.until(/code> ••••••/)
  expect(terminal.text()).not.toContain('s3cret')
  terminal.send('\r')
  await terminal.until(
    /It is \{"title":"News of today","count":2,"kind":"news","tags":\["a","b\sc"\],"code":"s3cret"\}/,
  )
  await terminal.until(idle)
  terminal.send('\x04')
  await terminal.exited
  const history = await project.read('.agentserve/chat-history.jsonl')
  expect(history.trim().split('\n')).toEqual(['"go"'])
  expect((await stat(join(project.folder, '.agentserve/chat-history.jsonl'))).mode & 0o777).toBe(0o600)
})

test('takes JSON where no form can say it', async () => {
  await chat('asks')
  terminal.send('odd\r')
  await terminal.until(prompts('answer'))
  await fill('{"a"', 'answer', /This is not JSON: /)
  terminal.send('{"a":1}\r')
  await terminal.until('It is {"a":1}')
  await terminal.until(idle)
})

test('starts a workflow by its form, and by a JSON object', async () => {
  await chat('publish')
  expect(terminal.text()).toContain('publish asks for city, days, note. Enter opens its form.')
  terminal.send('hello\r')
  await terminal.until('publish is started by a form. Enter opens it.')
  terminal.send('\r')
  await terminal.until(starts('city'))
  terminal.send('Bonn\r')
  await terminal.until(starts('days'))
  terminal.send('15\r')
  await terminal.until(/This must be at most 14\./)
  await terminal.until(starts('days'))
  terminal.send('4\r')
  await terminal.until(starts('note'))
  terminal.send('\r')
  await terminal.until('Published {"city":"Bonn","days":4}')
  await terminal.until(idle)
  terminal.send('{"city":"Ulm"}\r')
  await terminal.until('Published {"city":"Ulm","days":3}')
  await terminal.until(idle)
  terminal.send('\r')
  await terminal.until(starts('city'))
  terminal.send('\x03')
  await terminal.until(idle)
})
