const megabyte = 1024 * 1024
const hourMs = 3_600_000

/** Every default of the configuration. What the command line does differently from `createServer` is under `program`. */
export const defaults = {
  dataFolder: '.agentserve',
  port: 8080,
  prefix: '/api/v1',
  a2aPrefix: '/api/v1/a2a',
  healthPath: '/health',
  debug: false,
  requestTimeoutMs: 30_000,
  maxRequestBytes: 10 * megabyte,
  synchronous: 'FULL',
  vectorDbType: 'lancedb',
  embeddingProvider: 'auto',
  knowledgeApi: { search: true, config: true, content: true, documents: true },
  allowUnauthenticated: false,
  limits: {
    connections: 10_000,
    requests: 2_048,
    requestsPerMinute: undefined,
    concurrentRuns: undefined,
    bodiesBytes: 256 * megabyte,
    bodiesPerKeyBytes: 64 * megabyte,
    importBytes: 2048 * megabyte,
    run: { outputBytes: 16 * megabyte, events: 100_000, timeMs: 24 * hourMs, steps: 50, tokens: undefined },
    toolResult: { promptBytes: megabyte, recordBytes: 8 * megabyte },
    metadataBytes: megabyte / 16,
    stateBytes: megabyte,
    mcpMessageBytes: 8 * megabyte,
  },
  /** An editor empties a file and then writes it; several files are saved together. */
  reloadQuietMs: 20,
  /** Inside the data folder. */
  databaseFile: 'agentserve.db',
  /** Inside the data folder. */
  knowledgeFolder: 'knowledge',
  program: { host: '127.0.0.1' },
  /** Served when there is no config file. */
  builtIn: {
    sources: ['docs', 'README.md'],
    requestTimeout: '10m',
    docs: {
      description: 'Answers from ./docs and the README.',
      instructions: 'Answer from the passages and cite them.',
      knowledge: { limit: 6, mode: 'first' },
    },
    echo: { description: 'Says again what it was told.', sideEffects: false },
  },
} as const
