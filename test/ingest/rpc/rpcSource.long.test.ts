// rpcSource.test.ts in its whole breadth.
import './rpcSource.test.ts'
