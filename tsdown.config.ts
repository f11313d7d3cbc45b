import { defineConfig } from 'tsdown'
import { tellBundled } from './scripts/bundled/plugin.ts'

const swagger = 'node_modules/swagger-ui-dist'

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
  // Ink asks for it only when somebody debugs Ink.
  deps: { neverBundle: ['react-devtools-core'] },
  plugins: [tellBundled([swagger])],
  copy: ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE'].map((file) => ({
    from: `${swagger}/${file}`,
    to: 'dist/web',
  })),
})
