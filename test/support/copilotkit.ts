/**
 * What the guide uses of CopilotKit 1.75, as its types have it: the packages have 300 MB of dependencies. Its runtime and its core were
 * run against the server by hand.
 */
export const copilotKitTypes = {
  ts: `
declare module '@copilotkit/runtime/v2' {
  export class InMemoryAgentRunner {}
  export class CopilotRuntime {
    constructor(options: { agents: Record<string, import('@ag-ui/client').AbstractAgent>; runner?: InMemoryAgentRunner })
  }
  export function createCopilotRuntimeHandler(options: {
    runtime: CopilotRuntime
    basePath?: string
  }): (request: Request) => Promise<Response>
}
`,
  tsx: `
declare module '@copilotkit/react-core/v2' {
  import type { ReactNode } from 'react'
  export function CopilotKit(props: { children: ReactNode; runtimeUrl?: string; useSingleEndpoint?: boolean }): ReactNode
  export function CopilotChat(props: { agentId?: string; threadId?: string }): ReactNode
}
`,
} as const
