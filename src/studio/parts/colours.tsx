import bash from 'highlight.js/lib/languages/bash'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'
import type { ComponentChildren } from 'preact'

const lowlight = createLowlight({ bash, diff, go, json, markdown, python, sql, typescript, xml, yaml })
// TypeScript's grammar has all of JavaScript.
lowlight.registerAlias({ typescript: ['javascript', 'js', 'jsx', 'mjs', 'cjs'], bash: ['console', 'shell'] })

type Node = ReturnType<typeof lowlight.highlight>['children'][number]

/** The code in elements with the classes of its words; undefined for a language that is not known here. */
export function paint(text: string, language: string): ComponentChildren {
  if (!lowlight.registered(language)) return undefined
  return lowlight.highlight(language, text).children.map(draw)
}

function draw(node: Node): ComponentChildren {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return null
  const { className } = node.properties
  return <span class={Array.isArray(className) ? className.join(' ') : undefined}>{node.children.map(draw)}</span>
}
