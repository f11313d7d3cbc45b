import { render, renderToString } from 'ink'
import type { Client } from '../../client/client.ts'
import { Said } from '../chat/said.tsx'
import { withoutAutoWrap } from '../terminal/auto-wrap.ts'
import { type Paint, paintFor } from '../terminal/paint.ts'
import { type Outcome, SessionBrowser } from './browser.ts'
import { SessionBrowserScreen } from './session-browser.tsx'

const clearScreen = '\x1b[2J\x1b[H'

/** Runs the session browser on the alternate screen until the user leaves. Throws when it can't start. */
export async function browseOnTerminal(client: Client, signal: AbortSignal): Promise<Outcome> {
  const { stdout } = process
  const paint = paintFor(stdout)
  const browser = new SessionBrowser({
    client,
    layout: (entry, columns) =>
      renderToString(<Said entry={entry} columns={columns} paint={paint} />, { columns }).split('\n'),
    mark: paint.inverse,
  })
  const stop = () => browser.leave({ interrupted: true })
  signal.addEventListener('abort', stop, { once: true })
  try {
    await browser.open()
    return await withoutAutoWrap(stdout, () => show(browser, paint))
  } finally {
    signal.removeEventListener('abort', stop)
    browser.leave({ interrupted: true })
  }
}

async function show(browser: SessionBrowser, paint: Paint): Promise<Outcome> {
  const { stdin, stdout } = process
  // Ink does so after the first drawing; until then the terminal would echo what is typed.
  stdin.setRawMode(true)
  const app = render(<SessionBrowserScreen browser={browser} paint={paint} />, {
    exitOnCtrlC: false,
    interactive: true,
    incrementalRendering: true,
    alternateScreen: true,
  })
  // Terminals differ in how they reflow lines after a resize.
  const redraw = () => {
    app.clear()
    stdout.write(clearScreen)
  }
  stdout.on('resize', redraw)
  const closed = app.waitUntilExit().then(() => ({ interrupted: true }))
  try {
    return await Promise.race([browser.ended, closed])
  } finally {
    stdout.off('resize', redraw)
    app.unmount()
    await closed.catch(() => {})
    stdin.setRawMode(false)
  }
}
