#!/usr/bin/env node
// `agentserve init` under the name that `npm create` asks for. As plain as the program it starts, which checks the version
// of Node and may have to start itself on another one.
var path = require('node:path')
var program = path.join(path.dirname(require.resolve('agentserve/package.json')), 'bin/agentserve.js')

process.argv.splice(1, 1, program, 'init')
import(require('node:url').pathToFileURL(program).href)
