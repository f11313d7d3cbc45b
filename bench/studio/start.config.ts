import config from '../agent.config.ts'

/* The same server with or without the studio. */

export default { ...config, server: { studio: process.env.BENCH_STUDIO === 'on' } }
