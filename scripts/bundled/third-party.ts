import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './packages.ts'

const line = '='.repeat(80)
/** In characters; the ISC licence has 700. */
const shortestLicence = 500

/** The licence and the notices of each bundled package, word for word. Throws when one has no text. */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  return packages.map(describe).join(`\n${line}\n\n`)
}

function describe(one: BundledPackage): string {
  const own = textsOf(one.folder, /^(licen[cs]e|copying)/i)
  // A sentence that names the licence, or a link to it, is not its text.
  const hasText = own.some((text) => text.length >= shortestLicence)
  const texts = [...own, ...(hasText ? [] : [standardText(one)]), ...textsOf(one.folder, /^notice/i)]
  return `${one.name} ${one.version} (${one.license})\n\n${texts.join('\n\n')}\n`
}

function textsOf(folder: string, name: RegExp): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && name.test(entry.name))
  return files.map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
}

/** For a package that names its licence and does not bring the text. */
function standardText({ name, license, author }: BundledPackage): string {
  const folder = join(import.meta.dirname, 'licences')
  if (!readdirSync(folder).includes(`${license}.txt`)) throw new Error(`${name} (${license}) has no licence text`)
  const holder = author === undefined ? `the authors of ${name}` : author.replace(/\s*<.*>/, '')
  return readFileSync(join(folder, `${license}.txt`), 'utf8')
    .trim()
    .replace('<copyright holder>', holder)
}
