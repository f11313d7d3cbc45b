import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { testVectorStore } from '../../contract/vector-store.ts'

testVectorStore('memory', async () => memoryVectors())
