type Json = Record<string, unknown>

/** What `npm init` writes until there is a test. */
const noTest = 'echo "Error: no test specified" && exit 1'
const records = ['scripts', 'dependencies', 'devDependencies', 'allowScripts', 'engines']

/**
 * The package.json of a folder with what a template's has more: all that it says itself is kept. Undefined when it is no
 * package.json, or one of CommonJS modules of its own, which the template's files can't join.
 */
export function completePackage(text: string, template: string): string | undefined {
  const own = parse(text)
  const more = parse(template)
  if (own === undefined || more === undefined) return undefined
  const isUntouched = record(own, 'scripts').test === noTest
  if (own.type === 'commonjs' && !isUntouched) return undefined
  const completed: Json = { ...own, name: own.name ?? more.name, type: 'module' }
  if (own.name === undefined) completed.private = own.private ?? more.private
  for (const name of records) {
    const kept = Object.entries(record(own, name)).filter(([, value]) => value !== noTest)
    const taken = new Set([...kept.map(([key]) => key), ...(name === 'devDependencies' ? installed(own) : [])])
    const added = Object.entries(record(more, name)).filter(([key]) => !taken.has(key))
    if (kept.length + added.length > 0) completed[name] = Object.fromEntries([...kept, ...added])
  }
  const indent = /^[\t ]+(?=")/m.exec(text)?.[0] ?? '  '
  return `${JSON.stringify(completed, undefined, indent)}\n`
}

/** The lines of a .gitignore, and those that a template's has more. */
export function completeIgnored(text: string, template: string): string {
  const own = new Set(text.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, '')))
  const added = template.split('\n').filter((line) => line !== '' && !own.has(line))
  if (added.length === 0) return text
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${added.join('\n')}\n`
}

function installed(own: Json): string[] {
  return Object.keys(record(own, 'dependencies'))
}

function record(of: Json, name: string): Json {
  const value = of[name]
  return isRecord(value) ? value : {}
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
