import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { unpackBrowser } from './unpacked.ts'

/** A name that the browser of `openBrowser` finds on this machine; no other name resolves to anything. */
export const rebindingName = 'evil.example'

export interface TestBrowser {
  browser: Browser
  close(): Promise<void>
}

const flags = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${rebindingName} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
]

/** A headless Chromium from the npm package alone, with an empty profile, in a folder that goes with it. */
export async function openBrowser(): Promise<TestBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-browser-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const { executable, fonts } = await unpackBrowser(folder)
    const browser = await chromium.launch({
      executablePath: executable,
      args: process.getuid?.() === 0 ? [...flags, '--no-sandbox'] : flags,
      env: { HOME: folder, TMPDIR: folder, FONTCONFIG_FILE: fonts },
    })
    return {
      browser,
      async close() {
        await browser.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}
