import './rpcEndpoints.test.ts'
