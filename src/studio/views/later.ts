import { DiffPage } from '../again/diff-page.tsx'
import { MemberPage } from '../again/member-page.tsx'
import { AgainPage } from '../again/page.tsx'
import { AgentsPage } from '../agents/page.tsx'
import { AboutAgent } from '../conversation/about-agent.tsx'
import { ConversationView } from '../conversation/conversation.tsx'
import { FilePage } from '../file/page.tsx'
import { KnowledgePage } from '../knowledge/page.tsx'
import { RunView } from '../run/run.tsx'
import { Search } from '../search/search.tsx'
import { TestsPage } from '../tests/page.tsx'
import { WatchNote } from '../watch/note.tsx'
import { WatchPage } from '../watch/page.tsx'
import { Help } from './help.tsx'
import { KeyForm } from './key-form.tsx'

/** What the page loads with its second script, when the first of these is shown. */
export const later = {
  AboutAgent,
  AgainPage,
  AgentsPage,
  ConversationView,
  DiffPage,
  FilePage,
  Help,
  KeyForm,
  KnowledgePage,
  MemberPage,
  RunView,
  Search,
  TestsPage,
  WatchNote,
  WatchPage,
}
