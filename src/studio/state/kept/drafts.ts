const kept = 'agentserve.draft.'
/** A browser has a few megabytes for all of a page's drafts. */
const longest = 100_000

/** Messages that were begun and not sent, by session, while the tab is open. */
export const drafts = {
  read: (of: string): string => sessionStorage.getItem(kept + of) ?? '',
  keep(of: string, text: string): void {
    try {
      if (text === '') sessionStorage.removeItem(kept + of)
      else if (text.length <= longest) sessionStorage.setItem(kept + of, text)
    } catch {
      // No room is left: the field has the text, until the page goes.
    }
  },
}
