import type { Asked } from './sets.ts'

/** About the documentation of undici (MIT). */
export const undici: readonly Asked[] = [
  ['How do I send requests through a proxy with a password?', 'best-practices/proxy.md', 'Connect with authentication'],
  ['How do I authenticate with a client certificate?', 'best-practices/client-certificate.md', ''],
  ['Which status codes are retried?', 'api/RetryHandler.md', '`RetryOptions`'],
  ['What does the redirect interceptor do?', 'api/Interceptors.md', '`interceptors.redirect'],
  ['How do I cache responses with an interceptor?', 'api/Interceptors.md', '`interceptors.cache'],
  ['How do I cache DNS lookups?', 'api/Interceptors.md', '`interceptors.dns'],
  ['Which error is thrown when the headers take too long?', 'api/Errors.md', 'Class: `HeadersTimeoutError`'],
  ['How do I configure the timeouts of fetch?', 'api/Errors.md', 'Configuring timeouts for `fetch`'],
  ['How do I delete a cookie?', 'api/Cookies.md', '`deleteCookie'],
  ['How do I read the Set-Cookie headers?', 'api/Cookies.md', '`getSetCookies'],
  [
    'How do I pin the fingerprint of a certificate authority?',
    'api/Connector.md',
    'Example: validate the CA fingerprint',
  ],
  ['How do I forbid real network connections in tests?', 'api/MockAgent.md', '`mockAgent.disableNetConnect'],
  ['How do I assert that no mock is left over?', 'api/MockAgent.md', '`mockAgent.assertNoPendingInterceptors'],
  [
    'How do I reply with data based on the request?',
    'best-practices/mocking-request.md',
    'Reply with data based on request',
  ],
  ['How do I filter recorded calls by host?', 'api/MockCallHistory.md', '`mockCallHistory.filterCallsByHost'],
  ['How do I replace the global fetch?', 'api/GlobalInstallation.md', '`install()`'],
  ['How do I write a cache store of my own?', 'api/CacheStore.md', 'Implementing a custom cache store'],
  ['How do I store cached responses in SQLite?', 'api/CacheStore.md', 'Class: `SqliteCacheStore`'],
  [
    'Which event is published when a body chunk was sent?',
    'api/DiagnosticsChannel.md',
    "Event: `'undici:request:bodyChunkSent'`",
  ],
  ['How do I ping a websocket?', 'api/WebSocket.md', '`ping(websocket'],
  ['How do I record responses and play them back?', 'api/SnapshotAgent.md', ''],
  [
    'When do I not need to install undici?',
    'best-practices/undici-vs-builtin-fetch.md',
    'When you do NOT need to install undici',
  ],
  [
    'How do I turn HTTP/2 off after the upgrade?',
    'best-practices/migrating-from-v7-to-v8.md',
    '4. If you need HTTP/1.1 only',
  ],
  ['How should a crawler be written?', 'best-practices/crawling.md', ''],
  ['How are connections spread over several upstreams?', 'api/BalancedPool.md', ''],
]
