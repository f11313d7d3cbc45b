/** Names of providers in the record that the conventions spell differently. */
const conventional: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  'google.generative-ai': 'gcp.gemini',
  'google.vertex': 'gcp.vertex_ai',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshotai: 'moonshot_ai',
}

/** Models that answer in this process. */
const inProcess: ReadonlySet<string> = new Set(['offline'])

export interface NamedModel {
  /** As `gen_ai.provider.name`. */
  provider: string
  model: string
  isLocal: boolean
}

/** The parts of a recorded name: `provider/model`, split at the first slash. */
export function namedModel(name: string): NamedModel {
  const slash = name.indexOf('/')
  if (slash < 0) return { provider: 'agentserve', model: name, isLocal: inProcess.has(name) }
  const provider = name.slice(0, slash)
  return { provider: conventional[provider] ?? provider, model: name.slice(slash + 1), isLocal: false }
}
