import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { linkOwn } from '../../support/judge-packages.ts'
import { createProject, root } from '../../support/program.ts'

/* What the compiler says of the usual mistakes in a config: by its words alone one must know the cure, where the type can carry it. */

const mistakes: [name: string, code: string][] = [
  ['a setting of the config', "defineConfig({ modle: 'ollama/qwen3:8b', agents: { a } })"],
  ['a setting of the knowledge base', "defineConfig({ knowledge: { source: ['docs'] }, agents: { a } })"],
  ['a setting of the server', "defineConfig({ server: { adress: '127.0.0.1:8080' }, agents: { a } })"],
  ['a limit', 'defineConfig({ server: { limits: { run: { step: 3 } } }, agents: { a } })'],
  ['a setting of a key', "defineConfig({ server: { auth: { keys: [{ key: 'k', user_id: 'ann' }] } }, agents: { a } })"],
  [
    'a setting of a website',
    "defineConfig({ knowledge: { sources: [{ url: 'https://a.test', dept: 2 }] }, agents: { a } })",
  ],
  ['a setting of an agent', "agent({ instruction: 'Be kind.' })"],
  ['a setting of a team', "team({ members: [a], instruktions: 'Lead.' })"],
  ['a mode of a team', "team({ members: [a], mode: 'parrallel' })"],
  ['a duration', "agent({ timeout: '10 minutes' })"],
  ['a model without its provider', "defineConfig({ model: 'gpt-5', agents: { a } })"],
  ['a value that is no agent', 'defineConfig({ agents: { a: new Date() } })'],
  ['a team among the agents', 'defineConfig({ agents: { a: team({ members: [a] }) } })'],
  ['a member that is not there', "defineConfig({ agents: { a }, teams: { t: team({ members: ['b'] }) } })"],
  ["a field of a tool's input", 'tool({ inputSchema: z.object({ city: z.string() }), execute: ({ town }) => town })'],
  [
    "a field of a workflow's input",
    'workflow({ input: z.object({ topic: z.string() }), run: ({ input }) => input.subject })',
  ],
]

test('tsc refuses each of sixteen usual mistakes, and says what was meant where it can', async () => {
  const project = await createProject()
  try {
    await project.copy(join(root, 'templates/shared/tsconfig.json'), 'project.json')
    await project.write('tsconfig.json', '{ "extends": "./project.json", "include": ["config.ts"] }')
    await linkOwn(project.folder, ['@types/node', 'undici-types', '@ai-sdk/provider'])
    const head = [
      "import { agent, defineConfig, team, tool, workflow } from 'agentserve'",
      "import { z } from 'zod'",
      'const a = agent({})',
    ]
    await project.write('config.ts', [...head, ...mistakes.map(([, code]) => code)].join('\n'))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const run = promisify(execFile)(process.execPath, [tsc, '--noEmit', '--pretty', 'false'], { cwd: project.folder })
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    const said = mistakes.map(([name], place) => {
      const at = `config.ts(${place + 4},`
      const line = stdout.split('\n').find((one) => one.startsWith(at)) ?? ''
      return [
        name,
        line
          .replace(/^.*? error TS\d+: /, '')
          .replace(/ in type '.*'\./, ' in its type.')
          .slice(0, 200),
      ]
    })
    const guide = await readFile(join(root, 'docs/troubleshooting.md'), 'utf8')
    const told = [...guide.matchAll(/^\| .* \| `((?:NotA|Did|Type|Property)[^`]*)`/gm)].map(([, words = '']) => words)
    expect(told).toHaveLength(mistakes.length)
    const isSaid = (words: string) => said.some(([, line = '']) => line.includes(words.replaceAll('\\|', '|')))
    expect(told.filter((words) => !isSaid(words))).toEqual([])
    expect(Object.fromEntries(said)).toMatchInlineSnapshot(`
      {
        "a duration": "Type '"10 minutes"' is not assignable to type '{ totalMs?: number | undefined; stepMs?: number | undefined; firstChunkMs?: number | undefined; chunkMs?: number | undefined; toolMs?: number | undefined",
        "a field of a tool's input": "Property 'town' does not exist on type '{ city: string; }'.",
        "a field of a workflow's input": "Property 'subject' does not exist on type '{ topic: string; }'.",
        "a limit": "Object literal may only specify known properties, but 'step' does not exist in its type. Did you mean to write 'steps'?",
        "a member that is not there": "Type 'Team<"b">' is not assignable to type 'Team<"b"> & NotAnEntity<"b", EntityId<{ readonly agents: { readonly a: Entity<"agent">; }; readonly teams: { readonly t: Team<"b">; }; }>>'.",
        "a mode of a team": "Type '"parrallel"' is not assignable to type '"lead" | "parallel" | "route" | "sequence" | undefined'. Did you mean '"parallel"'?",
        "a model without its provider": "Type '"gpt-5"' is not assignable to type 'ModelChoice | undefined'.",
        "a setting of a key": "Type '"ann"' is not assignable to type '"ann" & NotASetting<"user_id", "userId">'.",
        "a setting of a team": "Object literal may only specify known properties, but 'instruktions' does not exist in its type. Did you mean to write 'instructions'?",
        "a setting of a website": "Type '2' is not assignable to type '2 & NotASetting<"dept", "delay" | "depth">'.",
        "a setting of an agent": "Object literal may only specify known properties, but 'instruction' does not exist in its type. Did you mean to write 'instructions'?",
        "a setting of the config": "Type '"ollama/qwen3:8b"' is not assignable to type '"ollama/qwen3:8b" & NotASetting<"modle", "mcpServers" | "model">'.",
        "a setting of the knowledge base": "Object literal may only specify known properties, but 'source' does not exist in its type. Did you mean to write 'sources'?",
        "a setting of the server": "Object literal may only specify known properties, but 'adress' does not exist in its type. Did you mean to write 'address'?",
        "a team among the agents": "Type 'Team<string>' is not assignable to type 'HostableAgent | Runnable<"agent">'.",
        "a value that is no agent": "Type 'Date' is not assignable to type 'HostableAgent | Runnable<"agent">'.",
      }
    `)
  } finally {
    await project.remove()
  }
}, 60_000)
