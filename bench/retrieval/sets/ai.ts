import type { Asked } from '../layouts.ts'

/** About the documentation of the package ai, in a user's own words. */
export const ai: readonly Asked[] = [
  [
    'answers from azure arrive in big lumps',
    '09-troubleshooting/01-azure-stream-slow.mdx',
    'This is a Microsoft Azure issue',
  ],
  [
    'screen shows 0: and quotes before each word',
    '09-troubleshooting/04-strange-stream-output.mdx',
    'switched to the stream data protocol',
  ],
  [
    'works on my machine, in production the reply comes all at once',
    '09-troubleshooting/06-streaming-not-working-when-deployed.mdx',
    "`'Transfer-Encoding': 'chunked'`",
  ],
  [
    'behind nginx nothing trickles in',
    '09-troubleshooting/06-streaming-not-working-when-proxied.mdx',
    "`'Content-Encoding': 'none'`",
  ],
  [
    'long replies are cut off on vercel',
    '09-troubleshooting/06-timeout-on-vercel.mdx',
    'default function duration is now',
  ],
  [
    'editor freezes and types are too deep',
    '09-troubleshooting/12-typescript-performance-zod.mdx',
    'specific compatibility requirements with Zod',
  ],
  [
    'the browser only says that something went wrong, no details',
    '09-troubleshooting/12-use-chat-an-error-occurred.mdx',
    'are masked by default',
  ],
  [
    'spinner is gone but there are no words yet',
    '09-troubleshooting/16-streaming-status-delay.mdx',
    'as soon as the connection to the server is established',
  ],
  [
    'slider value is not sent with the next message',
    '09-troubleshooting/17-use-chat-stale-body-data.mdx',
    'reflects the value from the initial component render',
  ],
  [
    'compiler does not know JSX on a server',
    '09-troubleshooting/40-typescript-cannot-find-namespace-jsx.mdx',
    '`@types/react` package as a dependency',
  ],
  [
    'ollama package is too old for this version',
    '09-troubleshooting/19-unsupported-model-version.mdx',
    'requires all provider packages to implement',
  ],
  [
    'same reply appears twice in the list',
    '09-troubleshooting/13-repeated-assistant-messages.mdx',
    'messages appear duplicated in the UI',
  ],
  [
    'nothing is saved when the user presses stop',
    '09-troubleshooting/14-stream-abort-handling.mdx',
    'abort handler immediately terminates the response',
  ],
  ['maximum length of a reply', '03-ai-sdk-core/25-settings.mdx', 'Maximum number of tokens to generate'],
  ['same output every time', '03-ai-sdk-core/25-settings.mdx', 'will generate deterministic results'],
  ['cut off generation at a certain word', '03-ai-sdk-core/25-settings.mdx', 'stop sequences to use for stopping'],
  [
    'how often is it tried again when the api fails',
    '03-ai-sdk-core/25-settings.mdx',
    'Set to 0 to disable retries. Default',
  ],
  ['give up when a tool is too slow', '03-ai-sdk-core/25-settings.mdx', 'default timeout for all tool executions'],
  ['let it think less', '03-ai-sdk-core/25-settings.mdx', 'Bare-minimum reasoning'],
  ['how close are two texts in meaning', '03-ai-sdk-core/30-embeddings.mdx', 'calculate the similarity between them'],
  ['turn thousands of paragraphs into vectors', '03-ai-sdk-core/30-embeddings.mdx', 'embed many values at once'],
  ['shorter vectors to save space', '03-ai-sdk-core/30-embeddings.mdx', 'an output vector size'],
  [
    'sort search results better than vectors do',
    '03-ai-sdk-core/31-reranking.mdx',
    'specifically trained to understand the relationship',
  ],
  ['only the best three documents', '03-ai-sdk-core/31-reranking.mdx', 'limit the number of results returned'],
  [
    'cut the think part out of the text',
    '03-ai-sdk-core/40-middleware.mdx',
    'expose reasoning information in the generated text using special tags',
  ],
  ['model puts backticks round the json', '03-ai-sdk-core/40-middleware.mdx', 'Some models wrap JSON responses'],
  [
    'pretend to stream with a model that can not',
    '03-ai-sdk-core/40-middleware.mdx',
    'simulate streaming behavior with responses from non-streaming',
  ],
  [
    'unit tests without paying for calls',
    '03-ai-sdk-core/55-testing.mdx',
    'Testing language models can be challenging',
  ],
  [
    'keep prompts out of the traces',
    '03-ai-sdk-core/60-telemetry.mdx',
    'By default, both inputs and outputs are recorded',
  ],
  [
    'provider breaks off in the middle of a reply, ask it again',
    '03-ai-sdk-core/50-error-handling.mdx',
    'response streaming has begun',
  ],
  [
    'end as soon as a certain function was called',
    '03-agents/04-loop-control.mdx',
    'stops when any of the specified tools is called',
  ],
  ['no limit on how many rounds it takes', '03-agents/04-loop-control.mdx', 'naturally stops making tool calls'],
  [
    'remember what a person said last week',
    '03-agents/06-memory.mdx',
    'Without memory, every conversation starts fresh',
  ],
  ['store facts with mem0', '03-agents/06-memory.mdx', 'adds a memory layer on top of any supported LLM provider'],
  ['Why is streaming slow on Azure?', '09-troubleshooting/01-azure-stream-slow.mdx', 'This is a Microsoft Azure issue'],
  [
    'Streaming does not work when I deploy my app',
    '09-troubleshooting/06-streaming-not-working-when-deployed.mdx',
    "`'Transfer-Encoding': 'chunked'`",
  ],
  [
    'Streaming fails behind a proxy that compresses responses',
    '09-troubleshooting/06-streaming-not-working-when-proxied.mdx',
    "`'Content-Encoding': 'none'`",
  ],
  [
    'How can I extend the timeout of functions on Vercel?',
    '09-troubleshooting/06-timeout-on-vercel.mdx',
    'default function duration is now',
  ],
  [
    'How do I show error messages that are masked?',
    '09-troubleshooting/12-use-chat-an-error-occurred.mdx',
    'are masked by default',
  ],
  [
    'The status is streaming but no text is shown',
    '09-troubleshooting/16-streaming-status-delay.mdx',
    'as soon as the connection to the server is established',
  ],
  [
    'TypeScript gets slow with Zod schemas',
    '09-troubleshooting/12-typescript-performance-zod.mdx',
    'specific compatibility requirements with Zod',
  ],
  [
    'Unsupported model version error when migrating',
    '09-troubleshooting/19-unsupported-model-version.mdx',
    'requires all provider packages to implement',
  ],
  [
    'Messages of the assistant are repeated',
    '09-troubleshooting/13-repeated-assistant-messages.mdx',
    'messages appear duplicated in the UI',
  ],
  [
    'onEnd is not called after aborting a stream',
    '09-troubleshooting/14-stream-abort-handling.mdx',
    'abort handler immediately terminates the response',
  ],
  [
    'How do I limit the number of generated tokens?',
    '03-ai-sdk-core/25-settings.mdx',
    'Maximum number of tokens to generate',
  ],
  [
    'Can I make results deterministic with a seed?',
    '03-ai-sdk-core/25-settings.mdx',
    'will generate deterministic results',
  ],
  [
    'How many times are failed calls retried?',
    '03-ai-sdk-core/25-settings.mdx',
    'Set to 0 to disable retries. Default',
  ],
  ['How do I set a timeout for tools?', '03-ai-sdk-core/25-settings.mdx', 'default timeout for all tool executions'],
  ['How do I compare two embeddings?', '03-ai-sdk-core/30-embeddings.mdx', 'calculate the similarity between them'],
  ['Can I embed several values at once?', '03-ai-sdk-core/30-embeddings.mdx', 'embed many values at once'],
  ['How many dimensions will embeddings have?', '03-ai-sdk-core/30-embeddings.mdx', 'an output vector size'],
  [
    'What are reranking models trained for?',
    '03-ai-sdk-core/31-reranking.mdx',
    'specifically trained to understand the relationship',
  ],
  [
    'How do I extract reasoning from think tags?',
    '03-ai-sdk-core/40-middleware.mdx',
    'expose reasoning information in the generated text using special tags',
  ],
  [
    'How do I strip markdown code fences from JSON?',
    '03-ai-sdk-core/40-middleware.mdx',
    'Some models wrap JSON responses',
  ],
  [
    'How can I test code that calls language models?',
    '03-ai-sdk-core/55-testing.mdx',
    'Testing language models can be challenging',
  ],
  [
    'Are inputs and outputs recorded by telemetry?',
    '03-ai-sdk-core/60-telemetry.mdx',
    'By default, both inputs and outputs are recorded',
  ],
  [
    'Which conditions stop the loop of an agent?',
    '03-agents/04-loop-control.mdx',
    'stops when any of the specified tools is called',
  ],
  [
    'How do agents remember earlier conversations?',
    '03-agents/06-memory.mdx',
    'Without memory, every conversation starts fresh',
  ],
]
