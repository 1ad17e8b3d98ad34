import './rpcPool.test.ts'
