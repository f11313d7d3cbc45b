import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { root } from '../../support/program.ts'

interface Component {
  group?: string
  name: string
  version: string
  purl: string
  hashes?: unknown[]
}

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const licences = read('dist/THIRD-PARTY-LICENSES.txt')
const sections = licences.split(`\n${'='.repeat(80)}\n\n`)
const titles = sections.map((section) => section.slice(0, section.indexOf('\n')))
const bill = JSON.parse(read('dist/sbom.cdx.json')) as { components: Component[] }

describe('what the package says of the packages that are bundled in it', () => {
  it('names each with its version and licence, and has the text of the licence', () => {
    expect(titles.length).toBeGreaterThan(100)
    for (const title of titles) expect(title).toMatch(/^(@[\w.-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S* \([\w .()-]+\)$/)
    for (const [place, section] of sections.entries()) {
      expect(section.length, titles[place]).toBeGreaterThan(500)
      expect(section).not.toContain('no licence text')
    }
  })

  it('has the notices that come with them', () => {
    const section = sections[titles.findIndex((title) => title.startsWith('swagger-ui-dist '))]
    expect(section).toContain(read('node_modules/swagger-ui-dist/NOTICE').trim())
  })

  it('lists the same packages as CycloneDX, with hashes', () => {
    const listed = bill.components.map(({ group, name, version }) => {
      return `${group === undefined ? '' : `${group}/`}${name} ${version}`
    })
    expect(listed).toEqual(titles.map((title) => title.replace(/ \(.*$/, '')))
    expect(bill.components.filter(({ hashes }) => hashes === undefined)).toEqual([])
    expect(bill.components.find(({ name }) => name === 'mcp')?.purl).toMatch(/^pkg:npm\/%40ai-sdk\/mcp@\d/)
  })

  it('is valid CycloneDX', () => {
    const schemas = 'node_modules/@cyclonedx/cyclonedx-library/res/schema'
    const schema = (name: string) => JSON.parse(read(`${schemas}/${name}.SNAPSHOT.schema.json`)) as object
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const name of ['spdx', 'jsf-0.82']) {
      ajv.addSchema({ ...schema(name), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` })
    }
    const validate = ajv.compile(schema('bom-1.6'))
    expect(validate(bill), JSON.stringify(validate.errors)).toBe(true)
  })
})
