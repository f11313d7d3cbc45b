/**
 * What runs in the child process, as text, so that no bundler has to find the file. It gets the address of
 * transformers.js and the model's settings as its first message, then texts by id.
 */
export const childProgram = `
let extract
const reply = (message) => process.connected && process.send(message)
process.on('disconnect', () => process.exit(0))
process.on('message', async (message) => {
  try {
    if (message.type === 'load') {
      const { env, pipeline } = await import(message.library)
      env.allowRemoteModels = message.allowRemote
      env.allowLocalModels = true
      env.localModelPath = message.cacheFolder
      env.cacheDir = message.cacheFolder
      extract = await pipeline('feature-extraction', message.model, {
        dtype: message.dtype, local_files_only: !message.allowRemote,
      })
      reply({ id: message.id })
    } else {
      const output = await extract(message.texts, { pooling: 'mean', normalize: true })
      reply({ id: message.id, vectors: output.tolist() })
    }
  } catch (error) {
    reply({ id: message.id, error: String(error && error.message || error) })
  }
})
`
