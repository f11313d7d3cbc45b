import { describe, expect, it } from 'vitest'
import { completeIgnored, completePackage } from '../../../src/cli/init/package-file.ts'

const template = JSON.stringify({
  name: 'agents',
  private: true,
  type: 'module',
  scripts: { dev: 'agentserve dev', test: 'node --test' },
  dependencies: { agentserve: '^1.0.0', ai: '7.0.0' },
  devDependencies: { typescript: '^7.0.0' },
})
const complete = (own: object) => {
  const text = completePackage(JSON.stringify(own), template)
  return text === undefined ? undefined : JSON.parse(text)
}

describe('completePackage', () => {
  it('adds what is missing to what `npm install agentserve` writes', () => {
    expect(complete({ dependencies: { agentserve: '1.2.3' } })).toEqual({
      name: 'agents',
      private: true,
      type: 'module',
      scripts: { dev: 'agentserve dev', test: 'node --test' },
      dependencies: { agentserve: '1.2.3', ai: '7.0.0' },
      devDependencies: { typescript: '^7.0.0' },
    })
  })

  it('takes the place of the test and the module type of `npm init -y`', () => {
    const scripts = { test: 'echo "Error: no test specified" && exit 1' }
    expect(complete({ name: 'mine', version: '1.0.0', scripts, type: 'commonjs' })).toMatchObject({
      name: 'mine',
      version: '1.0.0',
      type: 'module',
      scripts: { dev: 'agentserve dev', test: 'node --test' },
    })
  })

  it('keeps what a project says itself', () => {
    const own = {
      name: 'mine',
      type: 'module',
      scripts: { test: 'vitest', lint: 'biome' },
      dependencies: { typescript: '6.0.0' },
      other: [1],
    }
    const { devDependencies, ...completed } = complete(own)
    expect(devDependencies).toBeUndefined()
    expect(completed).toEqual({
      ...own,
      scripts: { test: 'vitest', lint: 'biome', dev: 'agentserve dev' },
      dependencies: { typescript: '6.0.0', agentserve: '^1.0.0', ai: '7.0.0' },
    })
  })

  it.each([
    ['is no JSON', '{,'],
    ['is no object', '[1]'],
    ['is of CommonJS modules', '{"type":"commonjs","scripts":{"test":"mocha"}}'],
  ])('leaves alone what %s', (_, own) => {
    expect(completePackage(own, template)).toBeUndefined()
  })

  it('keeps the indent', () => {
    expect(completePackage('{\n\t"name": "mine"\n}', template)).toContain('\n\t"name": "mine",\n')
  })
})

describe('completeIgnored', () => {
  it.each([
    ['', 'a\nb\n'],
    ['a\n', 'a\nb\n'],
    ['/a/\nc', '/a/\nc\nb\n'],
    ['b\r\na\r\n', 'b\r\na\r\n'],
  ])('%j becomes %j', (own, completed) => {
    expect(completeIgnored(own, 'a\nb\n')).toBe(completed)
  })
})
