export { defineConfig } from './config/define.ts'
export type { KeySettings } from './config/settings/keys.ts'
export type { ServerLimits } from './config/settings/limits.ts'
export type { EntityId, ServerConfig, UserConfig } from './config/types.ts'
export type { Duration } from './core/duration.ts'
export { AppError, type ErrorCode, type ErrorDetail, isAppError } from './core/error.ts'
export type { EmittedEvent, RunEvent } from './core/event.ts'
export type { Json, JsonObject } from './core/json.ts'
export type { Knowledge } from './core/knowledge/knowledge.ts'
export type { Logger } from './core/logger.ts'
export type { Fact, RunUser } from './core/memory/fact.ts'
export type { Message, Part } from './core/message.ts'
export type { CompatibleModel, ModelChoice, ModelSetting } from './core/model.ts'
export type { RunRecord, Usage } from './core/run.ts'
export type {
  AgentContext,
  Ask,
  Asked,
  Emission,
  MemberAnswer,
  Resumption,
  RunInput,
  Runnable,
} from './core/runnable.ts'
export type { SessionStore } from './core/store.ts'
export type { Summarizer, Summary } from './core/summary.ts'
export { fromWeb } from './http/from-web.ts'
export type { Bound } from './http/listen.ts'
export { json, type Reply, text } from './http/reply.ts'
export type { HttpRequest, InjectRequest, InjectResponse } from './http/request.ts'
export type { Route, Router } from './http/router.ts'
export { SummaryManager } from './models/summarizer.ts'
export type { A2A } from './protocols/a2a/a2a.ts'
export { agent } from './runnables/agent/agent.ts'
export type { AgentGuardrails, InputGuardrail, OutputGuardrail } from './runnables/agent/guardrails.ts'
export type { AgentHooks } from './runnables/agent/hooks.ts'
export type { HostableAgent } from './runnables/agent/host.ts'
export type {
  AgentKnowledge,
  AgentMemory,
  AgentOutput,
  AgentRunContext,
  AgentSettings,
  InstructionsOfRun,
} from './runnables/agent/settings.ts'
export { runContext } from './runnables/base/run-context.ts'
export { mcp } from './runnables/mcp/mcp.ts'
export type { McpServer } from './runnables/mcp/settings.ts'
export { type Team, type TeamSettings, team } from './runnables/team/team.ts'
export { type AsToolSettings, asTool } from './runnables/tools/as-tool.ts'
export { type RemoteAgent, type RemoteAgentSettings, remoteAgent } from './runnables/tools/remote-agent.ts'
export { tool } from './runnables/tools/tool.ts'
export type { Approve } from './runnables/workflow/approval.ts'
export type { Step, StepContext, StepOptions } from './runnables/workflow/step.ts'
export { type WorkflowContext, type WorkflowSettings, workflow } from './runnables/workflow/workflow.ts'
/** Renamed: what is annotated with it does not compile, and the compiler shows the new word. */
export type RunContext = 'RunContext is now called AgentContext: rename it'

export {
  createA2A,
  createServer,
  type EmbeddedConfig,
  type HealthRouter,
  type Server,
  type ShutdownOptions,
} from './server.ts'
