export const lmstudioURL = 'http://127.0.0.1:1234'

const ollamaDefault = 'http://127.0.0.1:11434'

/** From Ollama's own variable: a host, `host:port` or an address. 0.0.0.0 is a listen address and becomes loopback. */
export function ollamaURL({ OLLAMA_HOST: host }: Readonly<Record<string, string | undefined>>): string {
  if (host === undefined || host.trim() === '') return ollamaDefault
  const text = host.trim()
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(address)) return ollamaDefault
  const url = new URL(address)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.port === '' && address === `http://${text}`) url.port = '11434'
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
