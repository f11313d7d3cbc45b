/** The child's program, as text for bundlers. Its first message holds settings, the others texts by id. */
export const childProgram = `
let extract
const reply = (message) => process.connected && process.send(message)
process.on('disconnect', () => process.exit(0))
process.on('message', async ({ id, load, texts }) => {
  try {
    if (load) {
      const { env, pipeline } = await import(load.library)
      env.allowRemoteModels = false
      env.allowLocalModels = true
      env.useFSCache = false
      env.localModelPath = load.cacheFolder
      extract = await pipeline('feature-extraction', load.model, { dtype: load.type, local_files_only: true })
      reply({ id })
    } else {
      const output = await extract(texts, { pooling: 'mean', normalize: true })
      reply({ id, vectors: output.tolist() })
    }
  } catch (error) {
    reply({ id, error: String(error && error.message || error) })
  }
})
`
