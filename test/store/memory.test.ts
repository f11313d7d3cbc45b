import { memoryStore } from '../../src/store/memory.ts'
import { testSessionStore } from '../contract/session-store.ts'

testSessionStore('memory', () => memoryStore())
