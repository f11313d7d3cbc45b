import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../../support/program.ts'
import { openPty } from '../../support/pty.ts'
import { serveWaiting } from '../../support/waiting-runs.ts'

let waiting: Awaited<ReturnType<typeof serveWaiting>>
beforeAll(async () => {
  waiting = await serveWaiting()
})
afterAll(() => waiting.close())

const chat = (args: string[], input = '') => command(waiting.project, ['chat', ...args], input)

test.each(['--message', 'stdin', '--json'])('a text by %s answers a run that waits for input', async (way) => {
  const { session_id: id } = await waiting.ask('asks', 'ask')
  const flags = way === 'stdin' ? [] : ['--message', '7', ...(way === '--json' ? ['--json'] : [])]
  const { code, stdout, stderr } = await chat(['asks', '--session', id, ...flags], '7\n')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  if (way === '--json') expect(stdout).toMatch(/^\{"type":"run_resumed".*\n.*"It is 7".*\n.*"completed".*\n$/)
  else expect(stdout).toBe('It is 7\n')
})

test('the next line answers what the line before has asked, and the rest are messages', async () => {
  const { code, stdout, stderr } = await chat(['asks'], 'ask\n8\nhello\n')
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'It is 8\nSaid hello\n', stderr: '' })
})

test('a text that does not fit the schema is refused, and the run waits on', async () => {
  const { run_id, session_id: id } = await waiting.ask('asks', 'ask')
  const { code, stdout, stderr } = await chat(['asks', '--session', id, '--message', 'seven'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('must be integer')
  expect((await command(waiting.project, ['runs', 'show', run_id])).stdout).toContain('input_required')
})

test.each([
  ['an approval', 'wipe', '--approve|--deny'],
  ['a client tool', 'pick', "--input '<json>'"],
])('a run that waits for %s is left, with the command that answers it', async (_what, input, flags) => {
  const { run_id: run, session_id: id } = await waiting.ask('acts', input)
  const { code, stdout, stderr } = await chat(['acts', '--session', id], 'yes\nmore\n')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^The run is waiting for an answer:\n/)
  expect(stderr).toContain(`runs resume ${run} ${flags}\n`)
  const { stdout: listed } = await command(waiting.project, ['runs', 'list', '--session', id, '--json'])
  expect(listed.trim().split('\n')).toHaveLength(1)
})

test('a chat asks again when an answer does not fit the schema', async () => {
  const terminal = openPty(waiting.project, ['chat', 'asks'])
  await terminal.until('Enter sends')
  terminal.send('ask\r')
  await terminal.until(/How many\?[\s\S]*needs your answer/)
  terminal.send('seven\r')
  await terminal.until(/This is not a number\.[\s\S]*needs your answer/)
  terminal.send('9\r')
  await terminal.until('It is 9')
  await terminal.close()
})

test('a chat answers each approval on its own, with reasons', async () => {
  const terminal = openPty(waiting.project, ['chat', 'acts'])
  await terminal.until('Enter sends')
  terminal.send('wipe send\r')
  await terminal.until(/wipe[\s\S]*needs your answer/)
  terminal.send('y\r')
  await terminal.until(/'send' to run\?[\s\S]*needs your answer/)
  terminal.send('n not today\r')
  await terminal.until(/acted[\s\S]*execution-denied","reason":"not[\s\S]*today/)
  await terminal.close()
})

test('line by line in a terminal, each approval and input is asked', async () => {
  const terminal = openPty(waiting.project, ['chat', 'acts', '--plain'])
  await terminal.until('>')
  terminal.send('wipe send\r')
  await terminal.until(/1 of 2 {2}approval {2}wipe[\s\S]*y or n>/)
  terminal.send('maybe\r')
  await terminal.until('y for yes, n for no')
  terminal.send('y\r')
  await terminal.until(/2 of 2 {2}approval {2}send[\s\S]*y or n>/)
  terminal.send('n not today\r')
  await terminal.until(/acted[\s\S]*execution-denied[\s\S]*not today[\s\S]*>/)
  terminal.send('\x04')
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  expect(terminal.raw()).not.toContain('\x1b')
  await terminal.close()
})
