// chain.test.ts in its whole breadth.
import './chain.test.ts'
