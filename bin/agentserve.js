#!/usr/bin/env node
// Plain enough that Node versions far too old still parse it and can say what is missing: no static import, no
// import.meta, no top-level await.
var needed = [22, 19]
var running = process.versions.node.split('.').map(Number)

if (running[0] > needed[0] || (running[0] === needed[0] && running[1] >= needed[1])) start()
else runOnAnotherNode()

function start() {
  var args = process.argv.slice(2)
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
  console.error('agentserve needs Node ' + needed.join('.') + ' or newer; this is ' + process.versions.node + '.')
  process.exit(1)
}
