/** A repository of git at a ref, as the config names it: `git:<repository>[#[<ref>][:<folder>]]`. */
export interface GitAddress {
  /** An http or https address without user and password, or a folder. */
  repository: string
  isFolder: boolean
  user: string
  password: string
  /** A branch, tag or commit; undefined: the repository's own. */
  ref: string | undefined
  /** Without slashes at its ends; '' is the whole repository. */
  folder: string
  /** What the sources of its documents begin with: `git:example.com/owner/name@ref/`. */
  prefix: string
}

const refForm = /^[A-Za-z0-9][\w./+@-]{0,200}$/

/** The address, or a sentence that says what is wrong with it and shows no password. */
export function parseGitAddress(text: string): GitAddress | string {
  const given = text.replace(/^git:/i, '')
  const hash = given.indexOf('#')
  const place = hash < 0 ? given : given.slice(0, hash)
  const [ref = '', ...rest] = hash < 0 ? [] : given.slice(hash + 1).split(':')
  const folder = rest.join(':').replace(/^\/+|\/+$/g, '')
  if (ref !== '' && (!refForm.test(ref) || ref.includes('..') || ref.endsWith('.lock')))
    return `names '${ref.slice(0, 50)}', which is not a branch, tag or commit`
  if (folder.split('/').some((part) => part === '..' || part === '.') || folder.includes('\0'))
    return 'names a folder that is not inside the repository'
  const found = repositoryOf(place)
  if (typeof found === 'string') return found
  const prefix = `git:${found.name}${ref === '' ? '' : `@${ref}`}/`
  return { ...found, ref: ref === '' ? undefined : ref, folder, prefix }
}

/** How the address is shown and logged: without user and password. */
export function publicGitAddress(text: string): string {
  return text.replace(/^(git:\w+:\/\/)[^/?#]*@/i, '$1')
}

type Repository = Pick<GitAddress, 'repository' | 'isFolder' | 'user' | 'password'> & { name: string }

function repositoryOf(place: string): Repository | string {
  if (/^https?:\/\//i.test(place)) {
    const url = URL.parse(place)
    if (url === null) return 'is not an address'
    const [user, password] = [unescaped(url.username), unescaped(url.password)]
    url.username = ''
    url.password = ''
    url.search = ''
    const name = `${url.host}${url.pathname}`.replace(/\/+$/, '').replace(/\.git$/, '')
    return { repository: url.href, isFolder: false, user, password, name }
  }
  // `ext::…` starts programs, and `host:path` is ssh. A drive of Windows is neither.
  if (place.trim() === '' || (place.includes(':') && !/^[A-Za-z]:[\\/][^:]*$/.test(place)))
    return "must name a repository by an https:// address or a folder, like 'git:https://example.com/repository#main'; a folder in it follows #: 'git:../handbook#main:docs', or 'git:../handbook#:docs' without a ref"
  const name = place.replaceAll('\\', '/').replace(/\/+$/, '') || '/'
  return { repository: place, isFolder: true, user: '', password: '', name }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone % stands for itself.
    return text
  }
}
