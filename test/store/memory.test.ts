import { memoryStore } from '../../src/store/memory.ts'
import { testReadBudget } from '../contract/session-store/budget.ts'
import { testSessionStore } from '../contract/session-store.ts'

testSessionStore('memory', () => memoryStore())
testReadBudget('memory', (maxReadBytes) => memoryStore({ maxReadBytes }))
