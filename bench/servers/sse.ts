import { fragment } from '../fragment.ts'
import { listen, readText } from './listen.ts'

/** The least that a stream of 20 fragments can cost: 20 lines written on bare node:http. */

listen((request, response) => {
  readText(request, (text) => {
    JSON.parse(text)
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    for (let index = 0; index < 20; index++) {
      response.write(`data: ${JSON.stringify({ type: 'content', content: fragment(index) })}\n\n`)
    }
    response.end('data: {"type":"done"}\n\n')
  })
})
