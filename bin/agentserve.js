#!/usr/bin/env node
// Plain enough that Node versions far too old still parse it and can say what is missing: no static import, no
// import.meta, no top-level await. CommonJS, which Node loads sooner.
var needed = [22, 19]
/** Each half of the space for new objects, in MB: what a start makes fits into 4, and is not copied several times. */
var youngGeneration = ['--max-semi-space-size=16', '--min-semi-space-size=4']
var remedy = 'Install a newer Node, or one for this project: npm install --save-dev node@24'
var running = process.versions.node.split('.').map(Number)

if (running[0] > needed[0] || (running[0] === needed[0] && running[1] >= needed[1])) start()
else runOnAnotherNode()

function start() {
  var args = process.argv.slice(2)
  if (speaksMcp(args)) keepOutputClean()
  else if (servesLong(args)) keepMemorySmall()
  // Commits, DNS and files share libuv's pool; it is sized when it is first used.
  if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '16'
  import('node:module')
    .then((module) => {
      module.enableCompileCache()
      return import('../dist/cli.js')
    })
    .then((cli) => {
      process.exitCode = 1
      process.once('beforeExit', sayUnsettled)
      return cli.main(args)
    })
    .then(
      (code) => {
        process.off('beforeExit', sayUnsettled)
        process.exitCode = code
        leave()
      },
      (error) => {
        var missing = error !== null && error.code === 'ERR_MODULE_NOT_FOUND' && /dist.cli\.js/.test(error.message)
        console.error(missing ? 'agentserve is not built: npm run build' : error)
        process.exitCode = 1
      },
    )
}

/** What is open when a command is done (timers and sockets of a config, say) must not keep the process. */
function leave() {
  setTimeout(() => {
    if (process.stdout.writableLength + process.stderr.writableLength > 0) leave()
    else process.exit()
  }, 1000).unref()
}

function sayUnsettled() {
  console.error('agentserve ended before its work was done: it waited for something that could not come.')
}

function servesLong(args) {
  var command = args.filter((arg) => arg[0] !== '-')[0]
  return command === 'start' || command === 'dev'
}

/** Not for what only prints. */
function speaksMcp(args) {
  var prints = args.some((arg) => arg === '-h' || arg === '--help' || arg.indexOf('--print-config') === 0)
  return args[0] === 'mcp' && !prints
}

/**
 * Only messages may go to stdout, and agents, libraries and programs that they start print there. So stdout becomes another
 * file of the process, and stderr takes its place: a shell can do that, and is replaced by the program again.
 */
function keepOutputClean() {
  if (process.env.AGENTSERVE_MCP_OUTPUT !== undefined || !canBeReplaced() || !isProgram('/bin/sh')) return
  var words = [process.execPath].concat(process.execArgv, process.argv.slice(1))
  process.execve(
    '/bin/sh',
    ['sh', '-c', 'exec "$0" "$@" 3>&1 1>&2'].concat(words),
    Object.assign({}, process.env, { AGENTSERVE_MCP_OUTPUT: '3' }),
  )
}

/**
 * glibc keeps for itself what large requests have freed, and V8 lets its space for new objects grow to 128 MB. Both limits are
 * read when a process starts, so this process is replaced by one that has them: the same pid, signals and exit code. The
 * user's own settings count instead.
 */
function keepMemorySmall() {
  var settings = { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_TRIM_THRESHOLD_: '1048576' }
  var names = Object.keys(settings)
  if (process.env.AGENTSERVE_MEMORY === 'set') {
    // Not for the processes that agents start.
    names.concat('AGENTSERVE_MEMORY').forEach((name) => {
      delete process.env[name]
    })
    process.execArgv = process.execArgv.filter((flag) => youngGeneration.indexOf(flag) < 0)
    return
  }
  var isSet = Object.keys(process.env).some((name) => name.indexOf('MALLOC_') === 0 || name === 'GLIBC_TUNABLES')
  if (isSet || !canBeReplaced() || !hasGlibc()) return
  process.execve(
    process.execPath,
    [process.argv0].concat(limitsV8() ? [] : youngGeneration, process.execArgv, process.argv.slice(1)),
    Object.assign({}, process.env, settings, { AGENTSERVE_MEMORY: 'set' }),
  )
}

function limitsV8() {
  return /semi[-_]space/.test(process.execArgv.concat(process.env.NODE_OPTIONS).join())
}

/** Not with a channel to the parent, which would be lost, nor without the right to start programs. */
function canBeReplaced() {
  if (typeof process.execve !== 'function' || process.send !== undefined || process.permission !== undefined)
    return false
  return isProgram(process.execPath)
}

function isProgram(path) {
  try {
    require('node:fs').accessSync(path, 1)
    return true
  } catch {
    return false
  }
}

/** Linux with another C library (musl) does not know the settings. */
function hasGlibc() {
  if (process.platform !== 'linux') return false
  try {
    return !require('node:fs')
      .readdirSync('/lib')
      .some((name) => name.indexOf('ld-musl-') === 0)
  } catch {
    return false
  }
}

/** The package `node`, when it is installed beside us, brings a Node that is new enough. */
function runOnAnotherNode() {
  Promise.all([import('node:child_process'), import('node:fs'), import('node:path')])
    .then((modules) => {
      var fs = modules[1]
      var path = modules[2]
      var bin = path.dirname(fs.realpathSync(process.argv[1]))
      var found = ['../node_modules/node/bin/node', '../../node/bin/node']
        .map((place) => path.resolve(bin, place))
        .filter(fs.existsSync)[0]
      if (found === undefined || process.env.AGENTSERVE_ANOTHER_NODE !== undefined) refuse()
      else follow(modules[0].spawn(found, process.argv.slice(1), childOptions()))
    })
    .catch(refuse)
}

function childOptions() {
  return { stdio: 'inherit', env: Object.assign({}, process.env, { AGENTSERVE_ANOTHER_NODE: '1' }) }
}

function follow(child) {
  // A terminal gives Ctrl-C to the child itself.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT')
  })
  ;['SIGTERM', 'SIGHUP'].forEach((signal) => {
    process.on(signal, () => {
      child.kill(signal)
    })
  })
  child.on('error', refuse)
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function refuse() {
  // biome-ignore lint/style/useTemplate: plain on purpose, as above.
  var problem = 'agentserve needs Node ' + needed.join('.') + ' or newer; this is ' + process.versions.node + '. '
  console.error(problem + remedy)
  process.exit(1)
}
