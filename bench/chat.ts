// Measures the chat in a terminal: `npm run build && node bench/chat.ts`. Goals: first text 50 ms, last text 200 ms.
import { measureChat } from '../test/support/chat-speed.ts'

const { firstTextMs, lastTextMs } = await measureChat(7)
console.log(`first text on the screen after it left the agent: ${firstTextMs} ms`)
console.log(`last of 5,000 fragments on the screen after the run's end: ${lastTextMs} ms`)
