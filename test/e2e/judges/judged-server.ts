import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Client, createClient } from '../../../src/client/index.ts'
import { createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'

/** The program with the agents of the judges, for the tests of one file. */
export interface JudgedServer {
  project: Project
  server: RunningServer
  url: string
  /** Ours, to look at what was recorded. */
  own: Client
  /** Lets `slow` go on to its next word. */
  go(file: string): Promise<void>
  close(): Promise<void>
}

export async function startJudged(
  files: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<JudgedServer> {
  const project = await createProject(files)
  await project.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
  const server = await serve(project, 'dev', [], env)
  const own = createClient({ url: server.url })
  return {
    project,
    server,
    url: server.url,
    own,
    go: (file) => project.write(file, ''),
    async close() {
      await own.close()
      await server.stop()
      await project.remove()
    },
  }
}

/** Of a session or of a file of `slow`, new each time. */
export const newName = (kind: string) => `${kind}-${randomUUID()}`
