import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, readDeployed } from './files.ts'

export interface ProxyPlace {
  folder: string
  /** Where it listens, with TLS. */
  port: number
  /** The ports of the servers. */
  servers: readonly number[]
  /** The files of its certificate. */
  certificate: string
  key: string
  /** Both in one file. */
  both: string
}

interface ProxyKind {
  program: string
  /** The configuration that users copy, as it is here. */
  adapt(text: string, place: ProxyPlace): string
  file: string
  command(file: string): string[]
}

/** Replaces a text that must be there. */
function replace(text: string, from: string | RegExp, to: string): string {
  const replaced = text.replace(from, () => to)
  if (replaced === text) throw new Error(`The configuration has no ${from}.`)
  return replaced
}

export const proxies: Record<string, ProxyKind> = {
  nginx: {
    program: 'nginx',
    file: 'nginx.conf',
    adapt(text, { folder, port, servers, certificate, key }) {
      const lines = servers.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=2s;`).join('\n')
      let site = replace(text, 'server 127.0.0.1:8080 max_fails=1 fail_timeout=2s;', lines)
      site = replace(site, 'listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
      site = replace(site, '/etc/ssl/agents.pem', certificate)
      site = replace(site, '/etc/ssl/agents.key', key)
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      )
      return `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1; events { worker_connections 512; }
http { access_log off; ${folders.join(' ')}
${site}
}`
    },
    command: (file) => ['-e', 'stderr', '-p', join(file, '..'), '-c', file],
  },
  Caddy: {
    program: 'caddy',
    file: 'Caddyfile',
    adapt(text, { port, servers, certificate, key }) {
      const site = replace(
        text,
        'agents.example.com {',
        `https://agents.example.com:${port} {\n  tls ${certificate} ${key}`,
      )
      const all = servers.map((one) => `127.0.0.1:${one}`).join(' ')
      return `{\n  admin off\n  auto_https disable_redirects\n}\n${replace(site, 'reverse_proxy 127.0.0.1:8080', `reverse_proxy ${all}`)}`
    },
    command: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  HAProxy: {
    program: 'haproxy',
    file: 'haproxy.cfg',
    adapt(text, { port, servers, both }) {
      const lines = servers.map((one, number) => `server s${number} 127.0.0.1:${one}`).join('\n  ')
      const bound = replace(text, 'bind :443 ssl crt /etc/ssl/agents.pem', `bind 127.0.0.1:${port} ssl crt ${both}`)
      return replace(bound, 'server one 127.0.0.1:8080', lines)
    },
    command: (file) => ['-db', '-f', file],
  },
}

export interface RunningProxy {
  child: ChildProcess
  said(): string
  stop(): Promise<void>
}

/** Starts the program of this machine with the configuration that users copy. */
export async function startProxyOf(name: string, place: ProxyPlace): Promise<RunningProxy> {
  const kind = proxies[name]
  const program = kind && findProgram(kind.program)
  if (kind === undefined || program === undefined) throw new Error(`There is no ${name} here.`)
  await mkdir(place.folder, { recursive: true })
  const file = join(place.folder, kind.file)
  await writeFile(file, kind.adapt(readDeployed(kind.file), place))
  const child = spawn(program, kind.command(file), {
    cwd: place.folder,
    env: { ...process.env, HOME: place.folder, XDG_DATA_HOME: place.folder, XDG_CONFIG_HOME: place.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const finished = new Promise((resolve) => child.once('close', resolve))
  return {
    child,
    said: () => said,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 2_000)
      await finished
      clearTimeout(timer)
    },
  }
}
