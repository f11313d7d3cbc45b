/** Images, audio, video and fonts: they lie beside documents and have no text. */
const wordless =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|tiff?|ico|svg|mp[34]|m4[av]|mov|avi|mkv|webm|wav|ogg|flac|woff2?|[ot]tf)$/i

const lockFiles = new Set(
  `package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock Cargo.lock poetry.lock uv.lock
   pdm.lock Pipfile.lock pixi.lock conda-lock.yml go.sum go.work.sum Gemfile.lock composer.lock mix.lock rebar.lock
   pubspec.lock Podfile.lock Package.resolved flake.lock packages.lock.json gradle.lockfile paket.lock buf.lock
   MODULE.bazel.lock Chart.lock stack.yaml.lock Cartfile.resolved renv.lock gems.locked cabal.project.freeze`.split(
    /\s+/,
  ),
)
const minified = /\.min\.(?:[cm]?js|css)$|\.(?:[cm]?[jt]s|css)\.map$/i
/** A script that shells read, in a folder for them or by its name. */
const completions =
  /(?:^|\/)(?:(?:(?:bash|zsh|fish|shell)[-_])?completions?(?:\.d)?|site-functions|vendor_completions\.d)\/(?:[^/.]+|[^/]+\.(?:bash|zsh|fish|ps1|elv|nu|sh))$|(?:^|[/._-])completions?\.(?:bash|zsh|fish|ps1|elv|nu|sh)$|\.bash-completion$/i

export function isWordless(path: string): boolean {
  return wordless.test(path)
}

/** Lock files, minified files, source maps, shell completions: programs write them for programs. `path` has `/`. */
export function isGenerated(path: string): boolean {
  return lockFiles.has(path.slice(path.lastIndexOf('/') + 1)) || minified.test(path) || completions.test(path)
}
