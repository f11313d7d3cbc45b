/** The child's program, as text for bundlers. Its first message holds settings, the others a query and texts by id. */
export const crossEncoderProgram = `
let tokenizer
let model
let longest = 512
const reply = (message) => process.connected && process.send(message)
process.on('disconnect', () => process.exit(0))
process.on('message', async ({ id, load, query, texts }) => {
  try {
    if (load) {
      const { AutoModelForSequenceClassification, AutoTokenizer, env } = await import(load.library)
      env.allowRemoteModels = false
      env.allowLocalModels = true
      env.useFSCache = false
      env.localModelPath = load.cacheFolder
      tokenizer = await AutoTokenizer.from_pretrained(load.model, { local_files_only: true })
      model = await AutoModelForSequenceClassification.from_pretrained(load.model, { dtype: load.type, local_files_only: true })
      if (tokenizer.model_max_length > 0) longest = Math.min(longest, tokenizer.model_max_length)
      reply({ id })
    } else {
      const pairs = { text_pair: texts, padding: true, truncation: true, max_length: longest }
      const { logits } = await model(tokenizer(texts.map(() => query), pairs))
      reply({ id, vectors: logits.tolist() })
    }
  } catch (error) {
    reply({ id, error: String(error && error.message || error) })
  }
})
`
