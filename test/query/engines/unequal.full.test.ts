// unequal.test.ts in its whole breadth.
import './unequal.test.ts'
