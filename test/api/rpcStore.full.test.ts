import './rpcStore.test.ts'
