import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'
import { type Node, withPlainNames } from '../../scripts/studio/plain-names.ts'

const plain = (code: string) => withPlainNames(code, parseAst(code) as Node)

const counter = `class{#e;#t=1;name;static n;constructor(e){this.#e=e}get#r(){return this.#e?.by}async#i(){return this.#r}
  add(){return this.#t+=this.#r}total(){return this.#i()}}`

test('private names are plain, and fields without a value are not declared', () => {
  const code = plain(counter)
  expect(code).not.toContain('#')
  expect(code).toMatch(/^class\{t=1;static n;constructor/)
  expect(code).toContain('get r(){return this.e?.by}async i()')
})

test('a class does what it did', async () => {
  for (const code of [counter, plain(counter)]) {
    const Counter = new Function(`return ${code}`)()
    const made = new Counter({ by: 2 })
    expect(made.add()).toBe(3)
    expect(await made.total()).toBe(2)
  }
})

test.each([
  ['a name that a class has in both ways', 'class A{#e=1;e=2}'],
  ['a class that extends another', 'class A extends B{#e=1}'],
  ['a question whether something has the name', 'class A{#e=1;is(b){return #e in b}}'],
])('%s is refused', (_, code) => {
  expect(() => plain(code)).toThrow()
})

test('what has no value is one variable', () => {
  const code = plain('const e=`void 0`;function t(n){return n===void 0?e:void 0}void t()')
  expect(code).toMatch(/^var (\w\w);const e=`void 0`;function t\(n\)\{return n===\1\?e:\1\}void t\(\)$/)
})

test('a text and a regular expression with the sign stay', () => {
  const code = 'const a=`#e;`,d=/#e;/;'
  expect(plain(code)).toBe(code)
})
