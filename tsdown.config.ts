import { defineConfig } from 'tsdown'
import { tellBundled } from './scripts/bundled/plugin.ts'

const swagger = 'node_modules/swagger-ui-dist'
const prices = 'src/models/prices'

// Pure JavaScript is bundled, so that what a user installs is small: native libraries and those that a user's own
// config imports too (package.json, dependencies) stay outside.
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    client: 'src/client/index.ts',
    testing: 'src/testing/index.ts',
    cli: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  // Without the type checker's stand-ins for a library's types.
  tsconfig: 'tsconfig.build.json',
  dts: { entry: ['src/index.ts', 'src/client/index.ts', 'src/testing/index.ts'] },
  fixedExtension: false,
  deps: {
    // Ink asks for it only when somebody debugs Ink.
    neverBundle: ['react-devtools-core'],
    // Of the package, every start would read 70 files, most of them translations. Schemas of another copy work too.
    alwaysBundle: [/^zod(\/|$)/],
    dts: { neverBundle: [/^zod(\/|$)/] },
  },
  plugins: [tellBundled([swagger], prices)],
  copy: ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']
    .map((file) => ({
      from: `${swagger}/${file}`,
      to: 'dist/web',
    }))
    .concat({ from: `${prices}/prices.json`, to: 'dist' }),
})
