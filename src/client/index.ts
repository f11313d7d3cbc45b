export { AppError, type ErrorCode, type ErrorDetail, isAppError } from '../core/error.ts'
export type { RunEvent } from '../core/event.ts'
export type { Json, JsonObject } from '../core/json.ts'
export type { FilterOperators, Filters, FilterValue } from '../core/knowledge/filter.ts'
export type { ChunkerType, IngestResult, Reindexing, SearchMode } from '../core/knowledge/knowledge.ts'
export type { CallAnswer, EntityKind, RunStatus, RunTextForm, Waiting, WaitingKind } from '../core/run.ts'
export type { AgainRequest, AgainStarted, KeepRequest, RunKept } from '../wire/again.ts'
export type { Agent, AgentConfig, AgentList } from '../wire/agent.ts'
export type { AuditEntry, AuditEntryList } from '../wire/audit.ts'
export type { Fact, FactList, FactsDeleted } from '../wire/fact.ts'
export type { Health, Readiness } from '../wire/health.ts'
export type { History } from '../wire/history.ts'
export type {
  Chunk,
  ChunkInDocument,
  ChunkList,
  ContentRequest,
  Document,
  DocumentDeleted,
  DocumentList,
  KnowledgeConfig,
  KnowledgeStatus,
  ManyAnswer,
  ManyRequest,
} from '../wire/knowledge.ts'
export type { LiveEvent } from '../wire/live.ts'
export type { Me } from '../wire/me.ts'
export type { Message, MessageHit, MessageHitList } from '../wire/message.ts'
export type { A2AMessage, A2APart, A2AStreamEvent, A2ATask } from '../wire/protocols/a2a.ts'
export type {
  ResumeRequest,
  Run,
  RunAccepted,
  RunDetail,
  RunList,
  RunRequest,
  RunResult,
  SessionRunList,
} from '../wire/run.ts'
export type { RunTrace } from '../wire/run-trace.ts'
export type {
  KeptTestRuns,
  ProjectTest,
  ProjectTestList,
  RunTestsRequest,
  SavedTest,
  SaveTestRequest,
  TestEvent,
} from '../wire/saved-test.ts'
export type { Schedule, ScheduleList } from '../wire/schedule.ts'
export type { SearchAnswer } from '../wire/search.ts'
export type {
  CreateSessionRequest,
  ForkSessionRequest,
  PruneSessionsRequest,
  ReuseSessionRequest,
  Session,
  SessionDeleted,
  SessionHead,
  SessionHeadList,
  SessionList,
  SessionsPruned,
  UpdateSessionRequest,
} from '../wire/session.ts'
export type { Summary, SummaryScheduled } from '../wire/summary.ts'
export type { A2ACallOptions, A2AClient, A2AInput, A2AStream, A2AStreamOptions } from './a2a.ts'
export type { AdminClient, UsersClient } from './admin.ts'
export type { AgentsClient, RunInput } from './agents.ts'
export type { AttachedBytes, AttachedUrl, Attachment } from './attachments.ts'
export type { AuditClient, AuditListFilter } from './audit.ts'
export type { Client, ClientOptions } from './client.ts'
export { createClient } from './create.ts'
export type { FactsClient } from './facts.ts'
export type {
  DocumentsClient,
  IngestContent,
  IngestSettings,
  KnowledgeClient,
  ReindexOptions,
  SearchSettings,
} from './knowledge.ts'
export type { LiveOptions, LiveStream } from './live.ts'
export type { RunAnswer, RunStream, StreamedResult } from './run-result.ts'
export type { RunsClient, StreamOptions } from './runs.ts'
export type { SchedulesClient } from './schedules.ts'
export type { ServerClient } from './server.ts'
export type { SessionCopiesClient } from './session-copies.ts'
export type {
  MessageFilter,
  SessionFile,
  SessionFilter,
  SessionListFilter,
  SessionsClient,
  SummaryClient,
} from './sessions.ts'
export type { TestResult, TestsClient } from './tests.ts'
export type { CallOptions, KeyedOptions, PageOptions } from './transport/connection.ts'
export { ServerError } from './transport/error.ts'
export type { ClientRequest, ClientResponse, Transport } from './transport/transport.ts'
