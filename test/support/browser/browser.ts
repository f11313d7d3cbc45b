import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

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
    const browser = await chromium.launch({
      executablePath: await unpackChromium(folder),
      args: process.getuid?.() === 0 ? [...flags, '--no-sandbox'] : flags,
      env: { HOME: folder, TMPDIR: folder, FONTCONFIG_FILE: await configureFonts(folder) },
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

// The configuration that the package brings looks for fonts in fixed folders, where only an earlier run may have left some.
async function configureFonts(folder: string): Promise<string> {
  const file = join(folder, 'fonts.conf')
  const folders = `<dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'font-cache')}</cachedir>`
  await writeFile(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${folders}</fontconfig>`,
  )
  return file
}

// The package unpacks into the temporary folder and takes what it finds there for whole: each browser gets its own.
async function unpackChromium(folder: string): Promise<string> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    const { default: packaged } = await import('@sparticuz/chromium')
    return await packaged.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
