import { expect, test } from 'vitest'
import { type BrowserCommand, browserCommand } from '../../../src/cli/terminal/open-browser.ts'

const page = 'http://127.0.0.1:8080/studio'
const screen = { DISPLAY: ':0' }

test.each<[NodeJS.Platform, NodeJS.ProcessEnv, BrowserCommand]>([
  ['linux', screen, ['xdg-open', page]],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open', page]],
  ['linux', {}, { reason: 'there is no display' }],
  ['freebsd', { DISPLAY: '' }, { reason: 'there is no display' }],
  ['darwin', {}, ['open', page]],
  ['darwin', { SSH_CONNECTION: '10.0.0.2 5000 10.0.0.1 22' }, { reason: 'this is a session over SSH' }],
  ['linux', { ...screen, SSH_TTY: '/dev/pts/0' }, { reason: 'this is a session over SSH' }],
  ['linux', { ...screen, CI: '1' }, { reason: 'this is CI' }],
  ['linux', { ...screen, BROWSER: 'none' }, { reason: 'BROWSER is none' }],
  ['linux', { CI: '1', SSH_TTY: '/dev/pts/0', BROWSER: 'firefox' }, ['firefox', page]],
  ['linux', { ...screen, BROWSER: '', SSH_TTY: '' }, ['xdg-open', page]],
])('on %s with %j: %j', (platform, env, command) => {
  expect(browserCommand(page, platform, env)).toEqual(command)
})

test('on Windows no shell reads the address', () => {
  const hostile = `${page}&calc.exe`
  const [program, ...args] = browserCommand(hostile, 'win32', { SYSTEMROOT: 'C:\\Windows' }) as readonly string[]
  expect(program).toMatch(/^C:\\Windows.System32.rundll32\.exe$/)
  expect(args).toEqual(['url.dll,FileProtocolHandler', hostile])
})
