import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { withAlikeTogether } from '../../scripts/studio/alike.ts'

const types = {
  i: 'ImportDeclaration',
  f: 'FunctionDeclaration',
  c: 'VariableDeclaration',
  e: 'ExportNamedDeclaration',
}

/** Each statement begins with another letter. */
function ordered(...texts: string[]): Promise<string> {
  let end = 0
  const statements = texts.map((text) => {
    const start = end
    end += text.length
    return { type: types[text[0] as keyof typeof types], start, end }
  })
  return withAlikeTogether(texts.join(''), statements)
}

/** Two of each of six kinds, with more between them than gzip looks back over. */
function functions(): string[] {
  const words = (seed: number) =>
    Array.from({ length: 1000 }, (_, at) => `"${((seed + at) * 2654435761) % 4294967296}"`)
  return Array.from({ length: 12 }, (_, at) => `function f${at}(){return [${words((at % 6) * 10_000)}].length+${at}}`)
}

test('brings functions together that are alike, and changes nothing else', async () => {
  const texts = ['import{basename as b}from"node:path";', ...functions(), 'const sum=f0()+f11();', 'export{sum,b};']
  const code = texts.join('')
  const result = await ordered(...texts)
  expect(gzipSync(result).length).toBeLessThan(gzipSync(code).length * 0.6)
  expect(result.replaceAll('\n', '').split('').sort().join('')).toBe(code.split('').sort().join(''))
  expect(result.startsWith('import{basename as b}from"node:path";\nfunction')).toBe(true)
  expect(result.endsWith('}const sum=f0()+f11();\nexport{sum,b};\n')).toBe(true)
})

test('keeps what is no function in its order', async () => {
  const constants = Array.from({ length: 11 }, (_, at) => `const c${at}=${at === 0 ? 'f0()' : `c${at - 1}+f${at}()`};`)
  const texts = functions().flatMap((text, at) => [text, ...constants.slice(at, at + 1)])
  const code = texts.join('')
  const result = await ordered(...texts)
  expect(gzipSync(result).length).toBeLessThan(gzipSync(code).length * 0.6)
  expect(result.match(/const c\d+/g)).toEqual(constants.map((_, at) => `const c${at}`))
})

test('leaves a script as it is that would not be smaller', async () => {
  const texts = ['const a=1;', 'function one(){return a}', 'function two(){return one()}', 'export{two};']
  expect(await ordered(...texts)).toBe(texts.join(''))
})
