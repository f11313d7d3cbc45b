import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const variable = 'AGENTSERVE_TEST_SHARED_BROWSER'

/** Where all processes of a run of the tests find one browser. To unpack it takes longer than to start it. */
export function setSharedBrowser(folder: string): void {
  process.env[variable] = folder
}

export interface UnpackedBrowser {
  executable: string
  /** The settings of fontconfig: the fonts of the package and no others. */
  fonts: string
}

/** The files of the browser: those that the run of the tests shares, or, outside of one, new ones in this folder. */
export async function unpackBrowser(own: string): Promise<UnpackedBrowser> {
  const shared = process.env[variable]
  if (shared === undefined) return filesIn(await unpackTo(own))
  return filesIn((await isThere(shared)) ? shared : await share(shared))
}

const filesIn = (folder: string): UnpackedBrowser => ({
  executable: join(folder, 'chromium'),
  fonts: join(folder, 'fonts.conf'),
})

/** Processes may ask at the same time: each unpacks, and the first one's files count. */
async function share(folder: string): Promise<string> {
  const making = await unpackTo(await mkdtemp(`${folder}-`))
  try {
    // Names the last place, where the fonts will be.
    await writeFonts(making, folder)
    await rename(making, folder)
  } catch (error) {
    await rm(making, { recursive: true, force: true })
    if (!(await isThere(folder))) throw error
  }
  return folder
}

const isThere = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined

// The package unpacks into the temporary folder and takes what it finds there for whole: it gets a folder of its own.
async function unpackTo(folder: string): Promise<string> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    const { default: packaged } = await import('@sparticuz/chromium')
    await packaged.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  await writeFonts(folder, folder)
  return folder
}

// The configuration that the package brings looks for fonts in fixed folders, where only an earlier run may have left some.
async function writeFonts(folder: string, place: string): Promise<void> {
  const folders = `<dir>${join(place, 'fonts')}</dir><cachedir>${join(place, 'font-cache')}</cachedir>`
  await writeFile(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${folders}</fontconfig>`,
  )
}
