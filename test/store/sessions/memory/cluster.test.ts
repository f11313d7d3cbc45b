import { testSessionStore } from '../../../contract/session-store.ts'
import { testCluster } from '../../../contract/store-cluster.ts'
import { memoryCluster } from '../../../support/memory-cluster.ts'

testSessionStore('memory, shared by several processes', () => memoryCluster().add().store)
testCluster('memory', async (count) => {
  const { add } = memoryCluster()
  return Array.from({ length: count }, () => add().store)
})
