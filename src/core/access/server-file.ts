/** The owner of a data folder, as it writes to `server.json` there as soon as it has locked the folder. */
export interface FolderOwner {
  pid: number
  /** Of the command line, such as `chat`. */
  command: string
  version: string
  started_at: string
}

/** What `server.json` says once the owner serves. Only a hint: the lock says whether a server runs. */
export interface ServerHint extends FolderOwner {
  /** An address of this machine, with its port and no path. Absent: it listens on a socket. */
  url?: string | undefined
  /** The absolute path of its Unix socket, or the name of its pipe. */
  socket?: string | undefined
  /** The config file; absent: none. */
  config?: string | undefined
  /** The path prefix of its routes, if it is not the default. */
  prefix?: string | undefined
  a2a_prefix?: string | undefined
  /** Null: there is no MCP server. */
  mcp_path?: string | null | undefined
  health_path?: string | undefined
  /** Proves that the server wrote this hint: 32 random bytes as base64url. */
  secret: string
  /** Its routes require a key. */
  auth?: true | undefined
}

export const serverFileName = 'server.json'
/** No more is read of it. */
export const maxServerFileBytes = 64 * 1024
