import { isBuiltin } from 'node:module'

const prefix = '\0builtin:'
/** Modules of Node some of whose names are getters that load much when they are read. `fs` has some that print a warning. */
const withGetters = new Set(['crypto', 'http', 'net', 'process', 'stream', 'tls', 'util'])

/**
 * A plugin of the build: takes these modules as CommonJS does. To link an `import` of one, Node reads all of its names, and the
 * getters among them load what nobody asked for: `node:http` the whole of `fetch` and `WebSocket`, `node:tls` the root
 * certificates, `node:process` the standard streams. Here only the names are read that something in the bundle imports.
 */
export function plainBuiltins() {
  return {
    name: 'plain-builtins',
    resolveId(source: string, _importer: string | undefined, { kind }: { kind?: string }) {
      const name = source.replace(/^node:/, '')
      const isPlain = kind !== 'require-call' && isBuiltin(source) && withGetters.has(name)
      return isPlain ? prefix + name : undefined
    },
    load(id: string) {
      if (!id.startsWith(prefix)) return undefined
      return { code: exportsOf(id.slice(prefix.length)), moduleType: 'js' as const, moduleSideEffects: false }
    },
  }
}

function exportsOf(name: string): string {
  const source = `node:${name}`
  const names = Object.getOwnPropertyNames(process.getBuiltinModule(source))
    .filter((name) => /^[A-Za-z]\w*$/.test(name) && name !== 'default')
    .map((name) => `export const ${name} = /* @__PURE__ */ $read('${name}')`)
  return [
    `const $builtin = /* @__PURE__ */ process.getBuiltinModule('${source}')`,
    'const $read = (name) => $builtin[name]',
    'export default $builtin',
    ...names,
  ].join('\n')
}
