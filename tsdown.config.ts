import { defineConfig } from 'tsdown'
import { plainBuiltins } from './scripts/bundled/builtins.ts'
import { inBrowsers } from './scripts/bundled/in-browsers.ts'
import { bundleLance } from './scripts/bundled/lance.ts'
import { tellBundled } from './scripts/bundled/plugin.ts'
import { chunkOf } from './scripts/studio/chunk-of.ts'
import { studioAssets } from './scripts/studio/plugin.ts'

const swagger = 'node_modules/swagger-ui-dist'
const prices = 'src/models/prices'
const tokenTable = 'src/knowledge/embedders/static-table.bin'

// Pure JavaScript is bundled, so that what a user installs is small: native libraries and those that a user's own
// config imports too (package.json, dependencies) stay outside.
const program = defineConfig({
  entry: {
    index: 'src/index.ts',
    client: 'src/client/index.ts',
    testing: 'src/testing/index.ts',
    cli: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  // React's development build takes twice the time per frame; it would be chosen by this variable when it is loaded.
  define: { 'process.env.NODE_ENV': "'production'" },
  // Without the type checker's stand-ins for a library's types.
  tsconfig: 'tsconfig.build.json',
  dts: { entry: ['src/index.ts', 'src/client/index.ts', 'src/testing/index.ts'] },
  fixedExtension: false,
  // Nobody reads them there, and each start would.
  outputOptions: { comments: false },
  deps: {
    // Ink asks for it only when somebody debugs Ink.
    neverBundle: ['react-devtools-core'],
    // Of zod, every start would read 70 files, most of them translations; schemas of another copy work too. MCP hosts wait for
    // a start, and the SDK brings its own zod.
    alwaysBundle: [/^zod(\/|$)/, /^@modelcontextprotocol\/(?:server|core)(\/|$)/],
    dts: { neverBundle: [/^zod(\/|$)/] },
  },
  plugins: [plainBuiltins(), bundleLance(), tellBundled([swagger], prices)],
  copy: ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']
    .map((file) => ({
      from: `${swagger}/${file}`,
      to: 'dist/web',
    }))
    .concat({ from: `${prices}/prices.json`, to: 'dist' }, { from: tokenTable, to: 'dist' }),
})

// `agentserve/client` in browsers: the same sources, whose only part for Node is exchanged.
const browserClient = defineConfig({
  entry: { 'client.browser': 'src/client/index.ts' },
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox125', 'safari17.4'],
  tsconfig: 'tsconfig.build.json',
  minify: true,
  dts: false,
  clean: false,
  fixedExtension: false,
  plugins: [inBrowsers('src/client/transport')],
})

// Everything that the page needs is in it: it asks nobody but its server. Names have a hash, so that browsers keep them.
const studio = defineConfig({
  name: 'studio',
  entry: { studio: 'src/studio/main.tsx' },
  outDir: 'dist/web/studio',
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox125', 'safari17.4'],
  tsconfig: 'src/studio/tsconfig.json',
  minify: true,
  dts: false,
  // The program's build empties the folder, this one must not.
  clean: false,
  deps: { alwaysBundle: [/./] },
  plugins: [
    inBrowsers('src/client/transport', 'page'),
    inBrowsers('src/client/transport'),
    studioAssets('src/studio/style'),
  ],
  inputOptions: {
    // Nothing imports the entry from outside: what lazy parts share with it stays in its file.
    preserveEntrySignatures: false,
    // Of the library that compares texts only one of its ways: the others are made when it is loaded.
    treeshake: { moduleSideEffects: [{ test: /node_modules\/diff\//, sideEffects: false }] },
    // \`h('p', null, 'text')\` is shorter than \`jsx('p', { children: 'text' })\`.
    transform: {
      jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
      inject: { h: ['preact', 'h'], Fragment: ['preact', 'Fragment'] },
    },
  },
  outputOptions: {
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    comments: false,
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: chunkOf }] },
  },
})

export default [program, browserClient, studio]
