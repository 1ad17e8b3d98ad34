// golden.test.ts in its whole breadth.
import './golden.test.ts'
