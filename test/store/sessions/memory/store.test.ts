import { memoryStore } from '../../../../src/store/sessions/memory/store.ts'
import { testReadBudget } from '../../../contract/session-store/budget.ts'
import { testSessionStore } from '../../../contract/session-store.ts'

testSessionStore('memory', () => memoryStore())
testReadBudget('memory', (maxReadBytes) => memoryStore({ maxReadBytes }))
