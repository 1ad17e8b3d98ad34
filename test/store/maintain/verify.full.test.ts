// verify.test.ts in its whole breadth.
import './verify.test.ts'
