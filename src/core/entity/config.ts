import type { JsonObject } from '../json.ts'

export interface ToolConfig {
  name: string
  description: string | null
  /** Null where it is not known before a run. */
  input_schema: JsonObject | null
  /** `sometimes`: code decides. */
  approval: 'never' | 'always' | 'sometimes' | 'denied'
}

/** How an entity is configured, for its operator. Never holds keys, headers, or addresses of providers. */
export interface EntityConfig {
  /** The models that are tried after `model`, in order. */
  fallback_models: string[]
  /** Null without instructions as text. */
  instructions: string | null
  tools: ToolConfig[]
  knowledge: {
    mode: 'first' | 'tool'
    limit: number
    filters: JsonObject | null
    collection: string | null
  } | null
  memory: { runs: number; tokens: number | null; summary: boolean; user: boolean } | null
  output_schema: JsonObject | null
  /** The names of the functions, or their places. */
  guardrails: { input: string[]; output: string[] }
  hooks: string[]
  /** A team's, by id or name. */
  members: string[]
  /** A team's. */
  mode: string | null
  /** A workflow's. */
  input_schema: JsonObject | null
  /** A hash of the settings; null when they are not pure data. */
  version: string | null
}

/** What is known of an entity that tells nothing of its settings. */
export const noConfig: Readonly<EntityConfig> = {
  fallback_models: [],
  instructions: null,
  tools: [],
  knowledge: null,
  memory: null,
  output_schema: null,
  guardrails: { input: [], output: [] },
  hooks: [],
  members: [],
  mode: null,
  input_schema: null,
  version: null,
}

export interface SourcedConfig extends EntityConfig {
  /** The config file that lists it; null for one that a program has registered. */
  source: { file: string; line: number | null } | null
}
