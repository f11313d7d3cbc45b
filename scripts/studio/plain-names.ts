/** A node of a script, as the parser tells it. */
export interface Node {
  type: string
  start: number
  end: number
}

interface Field extends Node {
  value: Node | null
  static: boolean
}

interface Edit {
  start: number
  end: number
  text: string
}

/**
 * The script with plain names in place of private ones, which the compiler has looked after, without the fields that have no
 * value yet, and with one variable for each `void 0`. Throws when a plain name could mean something else.
 */
export function withPlainNames(code: string, program: Node): string {
  const edits: Edit[] = []
  const nothing = freeName(code)
  walk(program, undefined, (node, parent) => {
    if (node.type === 'ClassBody') assertDistinct(node)
    if (isVoid(node)) edits.push({ start: node.start, end: node.end, text: nothing })
    else if (isEmptyField(node)) edits.push({ start: node.start, end: node.end, text: '' })
    else if (node.type === 'PrivateIdentifier' && parent !== undefined && !isEmptyField(parent)) {
      if (parent.type === 'BinaryExpression') throw new Error('a private name is asked for by `in`')
      // After `get` and `async` it would be one word with it.
      const space = /\w/.test(code.charAt(node.start - 1)) ? ' ' : ''
      edits.push({ start: node.start, end: node.end, text: space + nameOf(node) })
    }
    if (isClass(node) && node.superClass !== null && hasPrivate(node)) {
      throw new Error('a class that extends another has private names, which the other one may have too')
    }
  })
  let result = edits.some(({ text }) => text === nothing) ? `var ${nothing};` : ''
  let end = 0
  for (const edit of edits.sort((one, other) => one.start - other.start)) {
    result += code.slice(end, edit.start) + edit.text
    end = edit.end
  }
  return result + code.slice(end)
}

/** A name of two letters that is nowhere in the script. */
function freeName(code: string): string {
  const words = new Set(code.match(/[\w$]+/g))
  const letters = [...'etnriaosclduABCDEFGHIJKLMNOPQRSTUVWXYZ_']
  const name = letters.flatMap((one) => letters.map((other) => one + other)).find((pair) => !words.has(pair))
  if (name === undefined) throw new Error('the script has all short names')
  return name
}

/** `void 0`, and not `void` before what does something. */
function isVoid(node: Node): boolean {
  const { operator, argument } = node as Node & { operator?: string; argument?: Node }
  return node.type === 'UnaryExpression' && operator === 'void' && argument?.type === 'Literal'
}

function isEmptyField(node: Node): node is Field {
  return node.type === 'PropertyDefinition' && (node as Field).value === null && !(node as Field).static
}

function isClass(node: Node): node is Node & { superClass: Node | null } {
  return node.type === 'ClassDeclaration' || node.type === 'ClassExpression'
}

function hasPrivate(node: Node): boolean {
  let found = false
  walk(node, undefined, ({ type }) => {
    found ||= type === 'PrivateIdentifier'
  })
  return found
}

function assertDistinct(node: Node): void {
  const keys = (node as Node & { body: (Node & { key?: Node })[] }).body.flatMap(({ key }) => (key ? [key] : []))
  const names = (isPrivate: boolean) =>
    keys.filter(({ type }) => (type === 'PrivateIdentifier') === isPrivate).map(nameOf)
  const open = new Set(names(false))
  const twice = names(true).find((name) => open.has(name))
  if (twice !== undefined) throw new Error(`a class has both ${twice} and #${twice}`)
}

function nameOf(node: Node): string {
  return String((node as Node & { name?: string }).name)
}

function walk(node: Node, parent: Node | undefined, visit: (node: Node, parent: Node | undefined) => void): void {
  visit(node, parent)
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) walk(one, node, visit)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
