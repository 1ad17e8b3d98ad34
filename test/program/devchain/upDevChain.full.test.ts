// upDevChain.test.ts in its whole breadth.
import './upDevChain.test.ts'
