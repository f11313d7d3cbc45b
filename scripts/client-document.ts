import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InterfaceDeclaration, Node, TypeElement } from 'typescript/unstable/ast'
import {
  isClassDeclaration,
  isFunctionDeclaration,
  isIndexSignatureDeclaration,
  isInterfaceDeclaration,
  isMethodSignatureDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
} from 'typescript/unstable/ast/is'
import { API, type Checker } from 'typescript/unstable/sync'
import { readShapes, type Shapes } from './shape-document.ts'

const root = join(import.meta.dirname, '..')
const marker =
  '<!-- Made from src/client: `vitest run test/e2e/documents/client-document.test.ts -u` writes what follows. -->'

/** docs/client.md: its guide as it is written there, and the reference from the source. */
export async function clientDocument(): Promise<string> {
  const guide = (await readFile(join(root, 'docs/client.md'), 'utf8')).split(marker)[0] ?? ''
  const api = new API({ cwd: root })
  try {
    const { program, checker } = openProject(api)
    const entry = program.getSourceFile(join(root, 'src/client/index.ts'))
    const module = entry && checker.getSymbolAtLocation(entry)
    if (module === undefined) throw new Error('src/client/index.ts exports nothing')
    const declarations = new Map<string, Node>()
    for (const symbol of checker.getExportsOfModule(module)) {
      const declaration = checker.getAliasedSymbol(symbol).declarations[0]?.resolve()
      if (declaration !== undefined) declarations.set(symbol.name, declaration)
    }
    return [`${guide}${marker}`, ...reference(declarations, checker, await readShapes())].join('\n\n')
  } finally {
    api.close()
  }
}

function openProject(api: API) {
  const config = join(root, 'tsconfig.json')
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
  if (project === undefined) throw new Error('tsconfig.json is not a project')
  return project
}

function reference(declarations: Map<string, Node>, checker: Checker, shapes: Shapes): string[] {
  const shown = new Set(['createClient', 'Client'])

  const docOf = (node: Node & { name?: Node | undefined }): string => {
    const symbol = node.name && checker.getSymbolAtLocation(node.name)
    return symbol === undefined ? '' : flat(checker.getDocumentationCommentOfSymbol(symbol))
  }
  const said = (node: Node) => (docOf(node) === '' ? '' : ` — ${docOf(node)}`)
  const interfaceOf = (name: string): InterfaceDeclaration => {
    const declaration = declarations.get(name)
    if (declaration === undefined || !isInterfaceDeclaration(declaration)) throw new Error(`${name} is no interface`)
    return declaration
  }
  const parentsOf = (node: InterfaceDeclaration) =>
    node.heritageClauses?.flatMap(({ types }) => types.map((type) => type.getText())) ?? []

  /** The methods of a client, those that it inherits first, and then the clients in it. */
  function* clients(name: string, place: string): Generator<string> {
    shown.add(name)
    const inner: [string, string][] = []
    const methods: string[] = []
    const read = (members: Iterable<TypeElement>) => {
      for (const member of members) {
        if (isMethodSignatureDeclaration(member))
          methods.push(`- \`${place}.${code(member.getText())}\`${said(member)}`)
        else if (isPropertySignatureDeclaration(member)) {
          inner.push([member.type.getText(), `${place}.${member.name.getText()}`])
        }
      }
    }
    const own = interfaceOf(name)
    for (const parent of parentsOf(own)) {
      shown.add(parent)
      read(interfaceOf(parent).members)
    }
    read(own.members)
    yield [`### ${place}`, docOf(own), methods.join('\n')].filter((text) => text !== '').join('\n\n')
    for (const [type, at] of inner) yield* clients(type, at)
  }

  function typeSection(name: string, node: Node): string {
    const members = isInterfaceDeclaration(node) || isClassDeclaration(node) ? [...node.members] : []
    const fields = members
      .filter(
        (member) =>
          isPropertySignatureDeclaration(member) ||
          isIndexSignatureDeclaration(member) ||
          (isPropertyDeclaration(member) && member.type !== undefined),
      )
      .map((member) => `- \`${code(member.getText())}\`${said(member)}`)
    const parents = isInterfaceDeclaration(node)
      ? parentsOf(node).map((parent) => `Besides those of \`${parent}\`:`)
      : []
    const body = isTypeAliasDeclaration(node)
      ? [aliased(code(node.type.getText()).replace(/^\| /, ''))]
      : isFunctionDeclaration(node)
        ? [`\`${signature(node)}\``]
        : [...(fields.length === 0 ? [] : parents), fields.join('\n')]
    return [`### ${name}`, docOf(node), ...body].filter((text) => text !== '').join('\n\n')
  }

  const create = declarations.get('createClient') as Node
  const sections = [
    '## Reference',
    `### createClient\n\n\`${signature(create)}\`\n\n${docOf(create)}`,
    ...clients('Client', 'client'),
  ]
  const types = [...declarations].filter(([name]) => !shown.has(name) && shapes.nameOf(name) === undefined)
  const bodies = [...declarations.keys()].flatMap((name) => shapes.nameOf(name) ?? [])
  return [
    ...sections,
    '## Types',
    ...types.map(([name, node]) => typeSection(name, node)),
    '## Shapes',
    'What is sent and answered, by the names of the OpenAPI document.',
    ...shapes.document(bodies),
  ]
}

/** Many alternatives are read as a list, by people and by the knowledge base. */
function aliased(type: string): string {
  const names = type.split(' | ')
  const isList = names.length > 6 && names.every((name) => /^'\w+'$/.test(name))
  return isList ? names.map((name) => `- \`${name}\``).join('\n') : `\`${type}\``
}

function signature(node: Node): string {
  return flat(
    node
      .getText()
      .replace(/^export (?:async )?function /, '')
      .split(/ \{\n/)[0] ?? '',
  )
}

/** Code on one line, without what only the formatter and the type checker want. */
function code(text: string): string {
  return flat(text.replace(/([\w\])'>])\n\s*(?=\w+\??: )/g, '$1; '))
    .replace(/([(<]) /g, '$1')
    .replace(/,? \)/g, ')')
    .replace(/(\?: (?:[^;,)}<]|<[^>]*>)*?) \| undefined/g, '$1')
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
