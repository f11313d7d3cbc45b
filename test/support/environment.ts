import { tmpdir } from 'node:os'

/*
 * Loaded before a worker's tests: LanceDB's threads read the environment with every query, and adding a variable moves its list: before glibc 2.41, a thread
 * that reads it then ends the process with SIGSEGV. Files share a process with such threads, so what tests add stays
 * in JavaScript. Variables that are there already are changed in place, which moves nothing.
 */
process.env.TMPDIR ??= tmpdir()
process.env.LANCEDB_LOG ??= 'error'
process.env = withAdditions(process.env)

function withAdditions(native: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const added: NodeJS.ProcessEnv = Object.create(null)
  const ownerOf = (name: string | symbol) => (name in native ? native : added)
  return new Proxy(native, {
    get: (_, name) => Reflect.get(ownerOf(name), name),
    set: (_, name, value) => Reflect.set(ownerOf(name), name, String(value)),
    has: (_, name) => name in native || name in added,
    deleteProperty: (_, name) => Reflect.deleteProperty(ownerOf(name), name),
    defineProperty: (_, name, { value }) => Reflect.set(ownerOf(name), name, String(value)),
    ownKeys: () => [...Reflect.ownKeys(native), ...Reflect.ownKeys(added)],
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(ownerOf(name), name),
  })
}
