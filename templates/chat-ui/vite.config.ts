import { defineConfig } from 'vite'

// The page and the API have one origin in the browser, so nothing has to be allowed with CORS. The Host header stays that of the
// page: agentserve compares it with the Origin.
export default defineConfig({
  server: {
    proxy: { '/api': { target: process.env.AGENTSERVE_URL ?? 'http://127.0.0.1:8080', changeOrigin: false } },
  },
})
