import type { JsonObject } from '../../core/json.ts'
import type { ClientTool } from '../../core/run.ts'
import { type Fields, field, isFields, listField, textField, wrong } from '../fields.ts'
import { unsupported } from './error.ts'

export interface ReadTools {
  client_tools?: ClientTool[]
  /** Fields of the request that the run does not use. */
  ignored: string[]
}

/**
 * The functions that the caller executes, of both dialects: chat completions have them in `function`, responses beside the type.
 * Tools that OpenAI executes itself are ignored, because clients send them always. `takes`: whether the entity offers client tools
 * to a model; one that does not ignores them, unless a call is demanded. Nothing makes a model call a tool, so a demand is refused.
 */
export function readClientTools(body: Fields, takes: boolean): ReadTools {
  const list = listField(body, 'tools') ?? []
  const tools = list.flatMap((tool, place) => readTool(tool, `tools[${place}]`))
  const wanted = readChoice(field(body, 'tool_choice'))
  const isIgnored = list.length > tools.length
  if (wanted === 'none') return { ignored: [] }
  const chosen = wanted === 'auto' ? tools : tools.filter(({ name }) => wanted.has(name))
  if (chosen.length === 0) return { ignored: isIgnored ? ['tools'] : [] }
  if (!takes) return { ignored: ['tools'] }
  return { client_tools: chosen, ignored: isIgnored ? ['tools'] : [] }
}

function readTool(tool: unknown, param: string): ClientTool[] {
  if (!isFields(tool) || typeof tool.type !== 'string') throw wrong(param, 'a tool with a type')
  if (tool.type !== 'function') return []
  const inner = field(tool, 'function')
  if (inner !== undefined && !isFields(inner)) throw wrong(`${param}.function`, 'an object')
  const [about, at] = inner === undefined ? [tool, param] : [inner, `${param}.function`]
  const name = textField(about, 'name', `${at}.name`)
  if (name === undefined) throw wrong(`${at}.name`, 'a string')
  const description = textField(about, 'description', `${at}.description`)
  const parameters = field(about, 'parameters') ?? { type: 'object', properties: {} }
  if (!isFields(parameters)) throw wrong(`${at}.parameters`, 'a JSON schema')
  return [{ name, ...(description !== undefined && { description }), parameters: parameters as JsonObject }]
}

/** The names of the tools that may be called, or all or none. */
function readChoice(choice: unknown): 'auto' | 'none' | ReadonlySet<string> {
  if (choice === undefined || choice === 'auto') return 'auto'
  if (choice === 'none') return 'none'
  if (choice === 'required') throw demanded('tool_choice')
  if (!isFields(choice) || typeof choice.type !== 'string')
    throw wrong('tool_choice', "'auto', 'none', 'required' or an object")
  if (choice.type !== 'allowed_tools') throw demanded('tool_choice')
  const inner = field(choice, 'allowed_tools')
  const allowed = isFields(inner) ? inner : choice
  const at = isFields(inner) ? 'tool_choice.allowed_tools' : 'tool_choice'
  if (field(allowed, 'mode') === 'required') throw demanded(`${at}.mode`)
  const names = (listField(allowed, 'tools', `${at}.tools`) ?? []).map((tool, place) => {
    const name = isFields(tool) ? (isFields(tool.function) ? tool.function.name : tool.name) : undefined
    // Tools of OpenAI have no name.
    if (name === undefined && isFields(tool)) return ''
    if (typeof name !== 'string') throw wrong(`${at}.tools[${place}]`, 'a tool')
    return name
  })
  return new Set(names)
}

function demanded(param: string) {
  const message = `${param} can't demand a call: agents decide which tools they call. Use 'auto' or 'none'.`
  return unsupported(message, param, 'tools_not_supported')
}
